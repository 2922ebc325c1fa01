/* gallery.c: no rewriter is to return code that is slower than the original: all kernels of the gallery, by all rewriters.
 *
 * The original and what the rewriters made of it are called in turns, and of each the fastest turn counts, in CPU time of this thread.
 * What looks slower is given more turns: a busy machine only ever adds. --check compares results only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../series.h"
#include "gallery.h"

enum { WAYS = 4, TURNS = 24, MORE_TURNS = 60, TIMES_MORE = 3, MAX_TIMES = 1 << 14 };
static const double TURN_SECONDS = 0.0003, SLOWER = 1.05;
static const char *const drivers[WAYS] = {"llvm", "tiered", "trace", "function"};
static const Kernel *const groups[] = {sorting,   sorting_cpp, recursion, interpreters, matching, hashing,
                                       wide,      matrices,    strings,   tables,       bits,     objects_cpp,
                                       callbacks, numeric,     graphs,    NULL};

typedef struct Way {
    void *function;
    BinoptHandle handle;
    double seconds; /* the fastest turn */
} Way;

static void rewrite(Way *w, const char *driver, const Kernel *k) {
    setenv("BINOPT_DRIVER", driver, 1);
    w->handle = binopt_init();
    BinoptCfgRef cfg = binopt_cfg_new(w->handle, k->function);
    k->configure(cfg);
    w->function = binopt_spec_create(cfg);
}

static double turn(const Way *w, Run *run, long times) {
    double start = seconds_of_thread();
    for (long i = 0; i < times; i++)
        run(w->function);
    return seconds_of_thread() - start;
}

/* ways[0] is the original. */
static void take_turns(Way *ways, Run *run, long times, int turns) {
    for (int t = 0; t < turns; t++)
        for (int w = 0; w <= WAYS; w++) {
            double took = turn(&ways[w], run, times);
            if (ways[w].seconds == 0 || took < ways[w].seconds)
                ways[w].seconds = took;
        }
}

static int any_slower(const Way *ways) {
    for (int w = 1; w <= WAYS; w++)
        if (ways[w].seconds > ways[0].seconds * (SLOWER - 0.02))
            return 1;
    return 0;
}

static void measure(Way *ways, Run *run) {
    long times = 1;
    while (times < MAX_TIMES && turn(&ways[0], run, times) < TURN_SECONDS)
        times *= 2;
    take_turns(ways, run, times, TURNS);
    for (int i = 0; i < TIMES_MORE && any_slower(ways); i++)
        take_turns(ways, run, times, MORE_TURNS);
}

static int is_wrong(const Way *ways, Run *run) {
    int wrong = 0;
    uint64_t expected = run(ways[0].function);
    for (int w = 1; w <= WAYS; w++)
        if (run(ways[w].function) != expected) {
            printf("  %s is WRONG", drivers[w - 1]);
            wrong = 1;
        }
    return wrong;
}

/* A line: the name, the original's time of a turn in us, and the rewriters' relative to it (=: it is the original). */
static int show(const Kernel *k, int check_only) {
    Way ways[WAYS + 1] = {{.function = k->function}};
    for (int w = 1; w <= WAYS; w++)
        rewrite(&ways[w], drivers[w - 1], k);
    usleep(check_only ? 1000 : 30000); /* *tiered* finds what *llvm* has made before, and only has to be given a CPU */
    printf("%-24s", k->name);
    int wrong = is_wrong(ways, k->run);
    if (!check_only)
        measure(ways, k->run);
    if (!check_only)
        printf(" %9.2f", ways[0].seconds * 1e6);
    for (int w = 1; w <= WAYS && !check_only; w++)
        printf(" %8.3f%c", ways[w].seconds / ways[0].seconds, ways[w].function == k->function ? '=' : ' ');
    printf("\n");
    fflush(stdout);
    for (int w = 1; w <= WAYS; w++)
        binopt_fini(ways[w].handle);
    return wrong;
}

int main(int argc, char **argv) {
    int check_only = argc > 1 && !strcmp(argv[1], "--check"), wrong = 0;
    const char *only = argc > 1 && !check_only ? argv[1] : NULL;
    printf("%-24s %9s", "", "original");
    for (int w = 0; w < WAYS; w++)
        printf(" %8s ", drivers[w]);
    printf("\n");
    for (const Kernel *const *g = groups; *g; g++)
        for (const Kernel *k = *g; k->name; k++)
            if (!only || strstr(k->name, only))
                wrong |= show(k, check_only);
    return wrong;
}
