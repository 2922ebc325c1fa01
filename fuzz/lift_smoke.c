/* lift_smoke.c: the program fuzz-lift-smoke: the lifter's fuzz target without libFuzzer, for a while.
 *
 * Inputs are random bytes, the machine code of this very program, and such code with a few bytes changed; or the
 * files named as arguments, to reproduce what a fuzzer found.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lift_one.h"
#include "random.h"

#define INPUT_BYTES 400

/* The linker's names for the program's text. */
extern const u8 __executable_start[], etext[];

static const char usage[] = "Usage: fuzz-lift-smoke [--seed=N] [--seconds=S] [FILE]...\n"
                            "Lifts pseudo-random and mutated machine code; ends with a signal if the lifter fails.\n"
                            "\n"
                            "  --seed=N     of the first input (1)\n"
                            "  --seconds=S  how long (10)\n"
                            "  FILE         only this input of the fuzz target, once\n";

/* For the signal handler: the input being lifted. */
static volatile u64 current_seed;

static void on_failure(int sig) {
    dprintf(2, "fuzz-lift-smoke: failed; again with --seed=%llu\n", (unsigned long long)current_seed);
    signal(sig, SIG_DFL);
    raise(sig);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t draw_input(Rng *r, u8 input[INPUT_BYTES]) {
    size_t size = 5 + rng_below(r, INPUT_BYTES - 5), text_bytes = (size_t)(etext - __executable_start);
    rng_fill(r, input, size);
    if (rng_once_in(r, 4))
        return size;
    memcpy(input + 4, __executable_start + rng_below(r, (u32)(text_bytes - INPUT_BYTES)), size - 4);
    for (u32 i = rng_below(r, 6); i > 0; i--)
        input[4 + rng_below(r, (u32)(size - 4))] = (u8)rng_next(r);
    return size;
}

static int lift_file(const char *name) {
    static u8 input[1 << 20];
    FILE *f = fopen(name, "rb");
    if (!f) {
        perror(name);
        return 2;
    }
    size_t size = fread(input, 1, sizeof(input), f);
    fclose(f);
    lift_one(input, size);
    return 0;
}

int main(int argc, char **argv) {
    static const struct option names[] = {
        {"seed", required_argument, NULL, 's'},
        {"seconds", required_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    u64 seed = 1, count = 0;
    double seconds = 10;
    for (int c; (c = getopt_long(argc, argv, "h", names, NULL)) != -1;) {
        switch (c) {
        case 's':
            seed = strtoull(optarg, NULL, 0);
            break;
        case 't':
            seconds = strtod(optarg, NULL);
            break;
        default:
            fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 2;
        }
    }
    if (optind < argc) {
        int worst = 0;
        for (int i = optind; i < argc; i++)
            worst |= lift_file(argv[i]);
        return worst;
    }
    signal(SIGSEGV, on_failure);
    signal(SIGABRT, on_failure);
    for (double end = now() + seconds; now() < end; count++) {
        u8 input[INPUT_BYTES];
        Rng r = {(seed + count) * 0xd1342543de82ef95u};
        size_t size = draw_input(&r, input);
        current_seed = seed + count;
        lift_one(input, size);
    }
    printf("%llu inputs lifted\n", (unsigned long long)count);
    return !count;
}
