/* binopt.c: what specialisation at run time gives, against the original and against compilers that knew everything.
 *
 * Each kernel is timed as it is, as gcc and clang make it with its parameters fixed at compile time, and as each rewriter of
 * libbinopt makes it; all of them in turn, many times, and the fastest time of each counts. Each is called from a place of its own
 * (drive.h). */
#include <binopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drive.h"

enum { ROUNDS = 15, TIMES_REWRITTEN = 5 };
static const double ROUND_SECONDS = 0.004;

const Taps four_taps = {4, {{-1, 0, .25f}, {1, 0, .25f}, {0, -1, .25f}, {0, 1, .25f}}};
const Flat four_flat = {4, {{.25, -1, 0}, {.25, 1, 0}, {.25, 0, -1}, {.25, 0, 1}}};
/* These two may be written to: their constancy is only what the configuration says. */
static Group one_group = {.25, 4, {{-1, 0}, {1, 0}, {0, -1}, {0, 1}}};
Sorted one_sorted = {1, {&one_group}};
double terms[TERMS] = {-3, 5, 0, 2, 1, 0, 1, 0, 0, 4, 1};

float from_float[SIDE * SIDE], to_float[SIDE * SIDE];
double from[SIDE * SIDE], to[SIDE * SIDE], numbers[ELEMENTS];

__attribute__((noinline)) double sum_of_two(double a, double b) {
    return a + b;
}

__attribute__((noinline)) int answer(void) {
    return 42;
}

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void) {
    return seconds_of(CLOCK_MONOTONIC);
}

/* ------------------------------------------------------------------------------------------------------- the kernels */

typedef void Configure(BinoptCfgRef cfg);

static void fix_stencil(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 5, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_UINT64,
                    BINOPT_TY_UINT64);
    binopt_cfg_set_paramp(cfg, 0, &four_taps, sizeof(four_taps), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 3, SIDE);
    binopt_cfg_set_parami(cfg, 4, SIDE);
}
static void fix_power(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_DOUBLE, BINOPT_TY_UINT32, BINOPT_TY_DOUBLE);
    binopt_cfg_set_parami(cfg, 0, EXPONENT);
}
static void fix_polynomial(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_DOUBLE, BINOPT_TY_DOUBLE, BINOPT_TY_PTR, BINOPT_TY_UINT64);
    binopt_cfg_set_paramp(cfg, 1, terms, sizeof(terms), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 2, TERMS);
}
static void fix_division(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, DIVISOR);
}
static void fix_reduce(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_DOUBLE, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_UINT64);
    binopt_cfg_set_parami(cfg, 0, (size_t)sum_of_two);
}
static void fix_nothing(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 1, BINOPT_TY_INT32, BINOPT_TY_PTR);
}
static void fix_jump(BinoptCfgRef cfg) {
    fix_nothing(cfg);
    binopt_cfg_set_parami(cfg, 0, (size_t)answer);
}
static void type_study(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
}
static void fix_flat(BinoptCfgRef cfg) {
    type_study(cfg);
    binopt_cfg_set_paramp(cfg, 0, &four_flat, sizeof(four_flat), BINOPT_MEM_CONST);
}
static void fix_sorted(BinoptCfgRef cfg) {
    type_study(cfg);
    binopt_cfg_set_paramp(cfg, 0, &one_sorted, sizeof(one_sorted), BINOPT_MEM_NESTED_CONST);
}

typedef struct Row {
    const char *name;
    size_t kernel; /* offset in Kernels */
    Configure *configure;
    int general_only; /* nothing is known at compile time either */
} Row;

#define AT(x) offsetof(Kernels, x)
static const Row rows[ROWS] = {
    {"stencil", AT(stencil), fix_stencil, 0},
    {"fastexp", AT(power), fix_power, 0},
    {"polynomial", AT(polynomial), fix_polynomial, 0},
    {"division", AT(division), fix_division, 0},
    {"reduce", AT(reduce), fix_reduce, 0},
    {"indjump", AT(jump), fix_nothing, 1},
    {"indjump-spec", AT(jump), fix_jump, 0},
    {"element direct", AT(element_direct), type_study, 0},
    {"element flat", AT(element_flat), fix_flat, 0},
    {"element sorted", AT(element_sorted), fix_sorted, 0},
    {"line direct", AT(line_direct), type_study, 0},
    {"line flat", AT(line_flat), fix_flat, 0},
    {"line sorted", AT(line_sorted), fix_sorted, 0},
};

static void *kernel_of(const Kernels *all, const Row *row) {
    return *(void **)((const char *)all + row->kernel);
}

/* ----------------------------------------------------------------------------------------------------------- measuring */

typedef struct Way {
    const char *name;
    void *kernel;
    double seconds;   /* per call, the best seen */
    double rewriting; /* seconds, the best seen */
    double digest;
} Way;

/* The best of a few, with a handle of its own each: the first one also pays for starting LLVM. */
static void rewrite(Way *way, void *original, const Row *row, BinoptHandle *kept) {
    for (int i = 0; i < TIMES_REWRITTEN; i++) {
        BinoptHandle handle = binopt_init();
        BinoptCfgRef cfg = binopt_cfg_new(handle, original);
        row->configure(cfg);
        binopt_cfg_set(cfg, BINOPT_F_STACKSZ, 65536 + 16 * (size_t)i); /* not what was made the last time */
        binopt_cfg_set(cfg, BINOPT_F_FASTMATH, FAST_MATH);
        binopt_cfg_set(cfg, BINOPT_F_NOWRAP, 1); /* compilers know that much of C, too */
        double start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        void *made = binopt_spec_create(cfg);
        double took = seconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
        if (!strcmp(way->name, "tiered"))
            usleep(200000); /* until its second version is there */
        if (!i || took < way->rewriting)
            way->rewriting = took;
        if (i == TIMES_REWRITTEN - 1) {
            *kept = handle;
            way->kernel = made;
        } else {
            binopt_fini(handle);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- the disk cache */

/* One *llvm* version, which may be an earlier run's; returns how long it took. */
static double recall(void *original, const Row *row) {
    setenv("BINOPT_DRIVER", "llvm", 1);
    BinoptHandle handle = binopt_init();
    BinoptCfgRef cfg = binopt_cfg_new(handle, original);
    row->configure(cfg);
    binopt_cfg_set(cfg, BINOPT_F_STACKSZ, 65520); /* one that is not rewritten otherwise */
    binopt_cfg_set(cfg, BINOPT_F_FASTMATH, FAST_MATH);
    binopt_cfg_set(cfg, BINOPT_F_NOWRAP, 1);
    double start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    binopt_spec_create(cfg);
    double took = seconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
    binopt_fini(handle);
    return took;
}

/* Two runs of this program leave their results in a directory, for this one to use. */
static void learn(const char *self, char *dir) {
    if (!mkdtemp(dir) || setenv("BINOPT_CACHE", dir, 1))
        return;
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            execl(self, self, "--learn", (char *)NULL);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
}

static void forget(const char *dir) {
    char command[256];
    unsetenv("BINOPT_CACHE");
    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    if (system(command))
        fprintf(stderr, "%s stays\n", dir);
}

static Drive *const *const drives[WAYS] = {drives_0, drives_1, drives_2, drives_3,
                                           drives_4, drives_5, drives_6, drives_7};

static long times_for(Drive *drive, void *kernel) {
    long times = 1;
    for (;; times *= 2) {
        double start = now();
        drive(kernel, times);
        if (now() - start > ROUND_SECONDS)
            return times;
    }
}

static void measure(int row, Way *ways, int count) {
    long times = times_for(drives[0][row], ways[0].kernel);
    for (int round = 0; round < ROUNDS; round++)
        for (int w = 0; w < count; w++) {
            double start = now();
            ways[w].digest = drives[w][row](ways[w].kernel, times);
            double took = (now() - start) / (double)times;
            if (!round || took < ways[w].seconds)
                ways[w].seconds = took;
        }
}

static int run_row(const Row *row, const char *const *drivers, int driver_count, double recalled) {
    Way ways[WAYS] = {{.name = "original", .kernel = kernel_of(&gcc_kernels, row)}};
    BinoptHandle kept[WAYS];
    int count = 1, wrong = 0;
    ways[count++] = (Way){.name = "gcc", .kernel = kernel_of(row->general_only ? &gcc_kernels : &gcc_special, row)};
    ways[count++] =
        (Way){.name = "clang", .kernel = kernel_of(row->general_only ? &clang_kernels : &clang_special, row)};
    for (int d = 0; d < driver_count; d++) {
        setenv("BINOPT_DRIVER", drivers[d], 1);
        ways[count].name = drivers[d];
        rewrite(&ways[count++], ways[0].kernel, row, &kept[d]);
    }
    measure((int)(row - rows), ways, count);
    printf("%-15s %9.2f", row->name, ways[0].seconds * 1e9);
    for (int w = 1; w < count; w++) {
        printf(" %7.3f", ways[w].seconds / ways[0].seconds);
        wrong |= !(fabs(ways[w].digest - ways[0].digest) <= fabs(ways[0].digest) * 1e-5);
    }
    for (int w = 3; w < count; w++)
        printf(" %10.3f%s", ways[w].rewriting * 1e3, ways[w].kernel == ways[0].kernel ? "=" : " ");
    printf(" %10.3f%s\n", recalled * 1e3, wrong ? "  WRONG" : "");
    for (int d = 0; d < driver_count; d++)
        binopt_fini(kept[d]);
    return wrong;
}

static void recall_all(double *seconds) {
    for (int i = 0; i < ROWS; i++)
        seconds[i] = recall(kernel_of(&gcc_kernels, &rows[i]), &rows[i]);
}

int main(int argc, char **argv) {
    const char *only = getenv("BENCH_ONLY");
    if (argc > 1 && !strcmp(argv[1], "--learn")) {
        double unused[ROWS];
        recall_all(unused);
        return 0;
    }
    static const char *const all[] = {"trace", "function", "llvm", "tiered"};
    const char *const *drivers = argc > 1 ? (const char *const *)argv + 1 : all;
    int driver_count = argc > 1 ? argc - 1 : (int)(sizeof(all) / sizeof(*all)), wrong = 0;
    if (driver_count > WAYS - 3) {
        fprintf(stderr, "at most %d rewriters at once\n", WAYS - 3);
        return 2;
    }
    for (int i = 0; i < SIDE * SIDE; i++) {
        from_float[i] = (float)(i % 17) * 0.5f;
        from[i] = (double)(i % 19) * 0.5;
    }
    for (int i = 0; i < ELEMENTS; i++)
        numbers[i] = (i % 23) * 0.25;
    printf("kernels by gcc %s; times relative to the original's ns, then ms of CPU time for rewriting (=: the original "
           "came back), and by llvm in an earlier run\n",
           LEVEL);
    printf("%-15s %9s %7s %7s", "", "original", "gcc", "clang");
    for (int d = 0; d < driver_count; d++)
        printf(" %7s", drivers[d]);
    for (int d = 0; d < driver_count; d++)
        printf(" %10s", drivers[d]);
    printf(" %10s\n", "from disk");
    char dir[] = "/tmp/bench-binopt-XXXXXX";
    double recalled[ROWS];
    learn(argv[0], dir);
    recall_all(recalled);
    forget(dir);
    for (int i = 0; i < ROWS; i++)
        if (!only || !strcmp(only, rows[i].name))
            wrong |= run_row(&rows[i], drivers, driver_count, recalled[i]);
    return wrong;
}
