/* loops.c: loops LOOP HANDLERS: nanoseconds for one turn of a loop, or of "all", the least of many measurements. HANDLERS is what the program has
 * handlers for: "none"; "outside", a signal that may come at any time; or "faults", which want the exact state. No signal ever comes. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS = 4096, SIDE = 64 };

static uint32_t words[WORDS];
static double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
static char text[WORDS];
static volatile uint64_t sink;

static void on_signal(int sig) {
    abort();
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* ---------------------------------------------------------------------------------------- loops: how many turns there were */

__attribute__((noinline)) static long sum(void) {
    uint32_t s = 0;
    for (int i = 0; i < WORDS; i++)
        s += words[i];
    sink = s;
    return WORDS;
}

__attribute__((noinline)) static long hash(void) {
    uint32_t h = 2166136261;
    for (int i = 0; i < WORDS; i++)
        h = (h ^ words[i]) * 16777619;
    sink = h;
    return WORDS;
}

__attribute__((noinline)) static long collatz(void) {
    long turns = 0;
    for (uint64_t start = 1; start < 300; start++)
        for (uint64_t n = start; n != 1; turns++)
            n = n & 1 ? 3 * n + 1 : n / 2;
    return turns;
}

__attribute__((noinline)) static long matrix(void) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double s = 0;
            for (int k = 0; k < SIDE; k++)
                s += a[i][k] * b[k][j];
            c[i][j] = s;
        }
    sink = (uint64_t)c[SIDE / 2][SIDE / 3];
    return (long)SIDE * SIDE * SIDE;
}

__attribute__((noinline)) static long search(void) {
    long n = 0;
    for (const char *p = text; *p; p++)
        n += *p == 'e';
    sink = (uint64_t)n;
    return WORDS;
}

__attribute__((noinline)) static long sort(void) {
    uint32_t v[512];
    long turns = 0;
    memcpy(v, words, sizeof(v));
    for (int i = 1; i < 512; i++) {
        uint32_t x = v[i];
        int k = i;
        for (; k > 0 && v[k - 1] > x; k--, turns++)
            v[k] = v[k - 1];
        v[k] = x;
    }
    return turns;
}

__attribute__((noinline)) static long recursion_of(long n) {
    return n < 2 ? 1 : recursion_of(n - 1) + recursion_of(n - 2);
}

static long recursion(void) {
    return recursion_of(18);
}

static const struct {
    const char *name;
    long (*run)(void);
} loops[] = {{"sum", sum},       {"hash", hash}, {"collatz", collatz},    {"matrix", matrix},
             {"search", search}, {"sort", sort}, {"recursion", recursion}};

static void install(const char *handlers) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    if (!strcmp(handlers, "outside"))
        signal(SIGUSR1, on_signal);
    for (int i = 0; i < 5 && !strcmp(handlers, "faults"); i++)
        signal(faults[i], on_signal);
}

/* Long enough for whoever translates to find that it is hot. */
static double measure(long (*run)(void)) {
    double begin = now(), best = 1e9;
    while (now() - begin < 0.6e9) {
        double start = now();
        long turns = 0;
        for (int i = 0; i < 100; i++)
            turns += run();
        double each = (now() - start) / (double)turns;
        best = each < best ? each : best;
    }
    return best;
}

int main(int argc, char **argv) {
    install(argc > 2 ? argv[2] : "none");
    for (int i = 0; i < WORDS; i++)
        words[i] = (uint32_t)i * 2654435761u, text[i] = (char)('a' + i % 23);
    text[WORDS - 1] = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        a[i / SIDE][i % SIDE] = i, b[i / SIDE][i % SIDE] = 1.0 / (i + 1);
    for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++)
        if (argc < 2 || !strcmp(argv[1], "all") || !strcmp(argv[1], loops[i].name))
            printf("%s %.4f\n", loops[i].name, measure(loops[i].run));
    return 0;
}
