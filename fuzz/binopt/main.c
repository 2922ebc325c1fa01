/* main.c: the program fuzz-binopt: any function in any configuration, for each rewriter of libbinopt.
 *
 * Specialising never crashes and never hangs; and where the function can be called, the result does what it does. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "anything.h"
#include "compiled.h"
#include "equal.h"

/* Of the processor; and by the clock, if it waits for something that never comes: others may need the machine, too. */
enum { HANGS_AFTER_SECONDS = 60, STUCK_AFTER_SECONDS = 1200 };

static const char usage[] =
    "Usage: fuzz-binopt [OPTION]...\n"
    "Specialises random functions; ends with a signal if that fails, or with a message if the result is wrong.\n"
    "\n"
    "  --seed=N         of the first function (1)\n"
    "  --count=N        functions (no limit)\n"
    "  --seconds=S      how long (10)\n"
    "  --driver=NAME    only this rewriter\n"
    "  --compiled       only functions that compilers made of random source text\n"
    "  --verbose        say what is done\n";

typedef struct Options {
    u64 seed, count;
    double seconds;
    const char *driver;
    bool compiled, verbose;
} Options;

static const char *const drivers[] = {"trace", "function", "llvm", "tiered", "none"};

/* For the signal handlers: what is being specialised. */
static volatile u64 current_seed;
static const char *volatile current_driver, *volatile current_only;

static void on_failure(int sig) {
    dprintf(2, "fuzz-binopt: %s; again with --seed=%llu --count=1 --driver=%s%s\n",
            sig == SIGALRM || sig == SIGPROF ? "hangs" : "failed", (unsigned long long)current_seed, current_driver,
            current_only);
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void limit_time(unsigned of_processor, unsigned by_clock) {
    struct itimerval limit = {.it_value.tv_sec = of_processor};
    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(by_clock);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static Options parse_options(int argc, char **argv) {
    static const struct option names[] = {
        {"seed", required_argument, NULL, 's'},    {"count", required_argument, NULL, 'n'},
        {"seconds", required_argument, NULL, 't'}, {"driver", required_argument, NULL, 'd'},
        {"compiled", no_argument, NULL, 'c'},      {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},          {0},
    };
    Options o = {.seed = 1, .count = ~(u64)0, .seconds = 10};
    for (int c; (c = getopt_long(argc, argv, "h", names, NULL)) != -1;) {
        switch (c) {
        case 's':
            o.seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            o.count = strtoull(optarg, NULL, 0);
            break;
        case 't':
            o.seconds = strtod(optarg, NULL);
            break;
        case 'd':
            o.driver = optarg;
            break;
        case 'c':
            o.compiled = true;
            break;
        case 'v':
            o.verbose = true;
            break;
        default:
            fputs(usage, c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
    return o;
}

/* The ones that are done soon are tried more often. */
static const char *draw_driver(Rng *r) {
    u32 n = rng_below(r, 16);
    return drivers[n < 6 ? 0 : n < 12 ? 1 : n < 14 ? 2 : n < 15 ? 3 : 4];
}

typedef enum Kind { ANYTHING, MACHINE_CODE, COMPILED } Kind;
static const char *const kind_name[] = {"anything", "machine code", "compiled"};

/* To compile a file takes as long as to specialise many functions. */
static Kind draw_kind(const Options *o, Rng *r) {
    u32 n = rng_below(r, 60);
    return o->compiled || (n == 0 && compiled_possible()) ? COMPILED : n < 20 ? ANYTHING : MACHINE_CODE;
}

static bool run_kind(Kind kind, Rng *r, const Choice *choice, bool lifts) {
    switch (kind) {
    case ANYTHING:
        anything_run(r, &choice->forms);
        return true;
    case MACHINE_CODE:
        return equal_run(r, choice, lifts);
    case COMPILED:
        return compiled_run(r);
    }
    return false;
}

static bool run_one(const Options *o, const Choice *choice, u64 seed) {
    Rng r = {seed * 0xd1342543de82ef95u};
    const char *drawn = draw_driver(&r), *driver = o->driver ? o->driver : drawn;
    Kind kind = draw_kind(o, &r);
    const char *only = o->compiled ? " --compiled" : "";
    current_seed = seed;
    current_driver = driver;
    current_only = only;
    setenv("BINOPT_DRIVER", driver, 1);
    setenv("BINOPT_ALWAYS", seed % 4 ? "1" : "0", 1); /* mostly also where nothing is gained */
    bool lifts = driver[0] == 'l' || !strcmp(driver, "tiered");
    double start = now();
    if (o->verbose)
        printf("%llu: %s, %s", (unsigned long long)seed, driver, kind_name[kind]);
    limit_time(HANGS_AFTER_SECONDS, STUCK_AFTER_SECONDS);
    bool right = run_kind(kind, &r, choice, lifts);
    limit_time(0, 0);
    if (o->verbose)
        printf(", %.3f s\n", now() - start);
    if (!right)
        printf("fuzz-binopt: wrong; again with --seed=%llu --count=1 --driver=%s%s\n", (unsigned long long)seed, driver,
               only);
    return right;
}

int main(int argc, char **argv) {
    Options o = parse_options(argc, argv);
    if (o.compiled && !compiled_possible()) {
        fputs("fuzz-binopt: there was no pair of C and C++ compilers (gcc and g++, clang and clang++) when this was "
              "built\n",
              stderr);
        return 2;
    }
    static Choice choice;
    u64 done = 0;
    choice_init(&choice);
    equal_init();
    signal(SIGABRT, on_failure);
    signal(SIGALRM, on_failure);
    signal(SIGPROF, on_failure);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (double end = now() + o.seconds; now() < end && done < o.count; done++)
        if (!run_one(&o, &choice, o.seed + done))
            return 1;
    printf("%llu functions specialised\n", (unsigned long long)done);
    return !done;
}
