/* quality.c: bench-quality, how good recompiled code is.
 *
 * Small functions, compiled from C by gcc and by clang, are lifted from this process, optimised and compiled again. The
 * number of instructions is compared with what clang makes of the same C; the time with the function that was lifted.
 * Fails if a lifted function computes something else, or if a bar is missed.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers.h"
#include "elf/elf.h"
#include "relift.h"
#include "series.h"

/* The bars. */
#define MAX_SIZE_RATIO 1.10
#define MAX_TIME_RATIO 1.05

enum { CHECK_TIMES = 50, REPETITIONS = 15 };

typedef enum Maker { BY_GCC, BY_CLANG, MAKER_COUNT } Maker;
static const char *const maker_name[] = {"gcc", "clang"};

static void *guest_of(const Kernel *k, Maker m) {
    return m == BY_GCC ? k->by_gcc : k->by_clang;
}

static void symbol_of(const Kernel *k, Maker m, char *name, size_t size) {
    snprintf(name, size, "%s_%s", maker_name[m], k->name);
}

/* The size of a guest function, by the symbols of this program. */
static size_t guest_size(const ElfFile *self, const Kernel *k, Maker m) {
    char name[64];
    ElfFunction f;
    symbol_of(k, m, name, sizeof(name));
    CHECK(elf_lookup(self, name, &f), "the kernels are linked into this program with their symbols");
    return f.size;
}

static u64 guest_insns(const ElfFile *self, const Kernel *k, Maker m) {
    return count_host_insns(guest_of(k, m), guest_size(self, k, m));
}

/* A relifted kernel that does what the original does; prints why not. */
static Relifted relift_kernel(LatheJit *jit, const Kernel *k, Maker m) {
    char name[64];
    symbol_of(k, m, name, sizeof(name));
    Relifted r = relift(jit, guest_of(k, m), name, k->sig, false);
    if (!r.entry) {
        printf("%-16s %-5s  not lifted: %s\n", k->name, maker_name[m], r.problem);
    } else if (k->drive(r.entry, CHECK_TIMES) != k->drive(guest_of(k, m), CHECK_TIMES)) {
        printf("%-16s %-5s  WRONG RESULT\n", k->name, maker_name[m]);
        r.entry = NULL;
    }
    return r;
}

/* ----------------------------------------------------------------------------------------------------------- size */

typedef struct Sizes {
    Series ratios;
    u64 within, failed;
} Sizes;

static void size_one(LatheJit *jit, const ElfFile *self, const Kernel *k, Maker m, Sizes *s) {
    Relifted r = relift_kernel(jit, k, m);
    if (!r.entry) {
        s->failed++;
        return;
    }
    u64 guest = guest_insns(self, k, m), yardstick = guest_insns(self, k, BY_CLANG);
    u64 lifted = count_host_insns(r.entry, r.size);
    double ratio = (double)lifted / (double)yardstick;
    series_add(&s->ratios, ratio);
    s->within += ratio <= MAX_SIZE_RATIO;
    printf("%-16s %-5s %7lu %7lu %7lu %7.2f%s\n", k->name, maker_name[m], guest, yardstick, lifted, ratio,
           ratio <= MAX_SIZE_RATIO ? "" : "  +");
}

/* Both sides are compiled for x86-64-v2 and without vectorising loops, so that the same C can be the same code. */
static bool compare_sizes(const ElfFile *self) {
    LatheJit *jit = lathe_jit_new(&(LatheJitConfig){.cpu = "x86-64-v2", .features = ""});
    bool ok = true;
    printf("instructions\n%-16s %-5s %7s %7s %7s %7s\n", "kernel", "guest", "guest", "clang", "lifted", "ratio");
    for (Maker m = 0; m < MAKER_COUNT; m++) {
        Sizes s = {0};
        for (size_t i = 0; i < kernel_count; i++)
            size_one(jit, self, &kernels[i], m, &s);
        double mean = series_geomean(&s.ratios);
        printf("%-16s %-5s geometric mean %.3f, %lu of %zu within %.0f%% of clang\n\n", "", maker_name[m], mean,
               s.within, kernel_count, (MAX_SIZE_RATIO - 1) * 100);
        ok &= mean <= MAX_SIZE_RATIO && !s.failed;
        series_free(&s.ratios);
    }
    lathe_jit_free(jit);
    return ok;
}

/* ---------------------------------------------------------------------------------------------------------- speed */

static double time_one(const Kernel *k, const void *f) {
    double start = seconds_of_thread();
    volatile u64 digest = k->drive(f, k->times);
    (void)digest;
    return seconds_of_thread() - start;
}

/* Both versions in turns, so that a change of the machine's pace meets both; the ratio is that of neighbours. */
static double speed_one(const Kernel *k, Maker m, const void *lifted) {
    Series native = {0}, again = {0}, ratios = {0};
    time_one(k, lifted);
    for (int i = 0; i < REPETITIONS; i++) {
        double before = time_one(k, guest_of(k, m)), after = time_one(k, lifted);
        series_add(&native, before);
        series_add(&again, after);
        series_add(&ratios, after / before);
    }
    double ratio = series_median(&ratios);
    printf("%-16s %-5s %9.2f %9.2f %7.2f%s\n", k->name, maker_name[m], series_median(&native) * 1e3,
           series_median(&again) * 1e3, ratio, ratio <= MAX_TIME_RATIO ? "" : "  +");
    fflush(stdout);
    series_free(&native);
    series_free(&again);
    series_free(&ratios);
    return ratio;
}

static bool speed_of(LatheJit *jit, Maker m) {
    Series ratios = {0};
    u64 within = 0, timed = 0, failed = 0;
    for (size_t i = 0; i < kernel_count; i++) {
        const Kernel *k = &kernels[i];
        if (!k->times)
            continue;
        timed++;
        Relifted r = relift_kernel(jit, k, m);
        if (!r.entry) {
            failed++;
            continue;
        }
        double ratio = speed_one(k, m, r.entry);
        series_add(&ratios, ratio);
        within += ratio <= MAX_TIME_RATIO;
    }
    double mean = series_geomean(&ratios);
    printf("%-16s %-5s geometric mean %.3f, %lu of %lu within %.0f%% of native\n\n", "", maker_name[m], mean, within,
           timed, (MAX_TIME_RATIO - 1) * 100);
    series_free(&ratios);
    return mean <= MAX_TIME_RATIO && !failed;
}

static bool compare_speed(void) {
    LatheJit *jit = lathe_jit_new(NULL);
    printf("time (medians of %d)\n%-16s %-5s %9s %9s %7s\n", REPETITIONS, "kernel", "guest", "native ms", "lifted ms",
           "ratio");
    bool ok = true;
    for (Maker m = 0; m < MAKER_COUNT; m++)
        ok &= speed_of(jit, m);
    lathe_jit_free(jit);
    return ok;
}

/* -------------------------------------------------------------------------------------------------------- looking */

static bool show(const ElfFile *self, const char *name) {
    LatheJit *jit = lathe_jit_new(&(LatheJitConfig){.cpu = "x86-64-v2", .features = ""});
    bool found = false;
    for (size_t i = 0; i < kernel_count; i++) {
        const Kernel *k = &kernels[i];
        if (strcmp(k->name, name) != 0)
            continue;
        found = true;
        for (Maker m = 0; m < MAKER_COUNT; m++) {
            printf("; %s by %s\n", k->name, maker_name[m]);
            show_host_insns(guest_of(k, m), guest_size(self, k, m));
            Relifted r = relift(jit, guest_of(k, m), maker_name[m], k->sig, true);
            if (r.entry)
                show_host_insns(r.entry, r.size);
            else
                puts(r.problem);
        }
    }
    lathe_jit_free(jit);
    if (!found)
        fprintf(stderr, "bench-quality: no kernel is called %s\n", name);
    return found;
}

/* ----------------------------------------------------------------------------------------------------------- main */

static const char usage[] = "usage: bench-quality [--size] [--speed] [--show=KERNEL]\n"
                            "Compares recompiled functions with what compilers make of them.\n";

typedef struct Options {
    bool size, speed;
    const char *show;
} Options;

static bool parse(int argc, char **argv, Options *o) {
    static const struct option options[] = {
        {"size", no_argument, NULL, 's'},
        {"speed", no_argument, NULL, 't'},
        {"show", required_argument, NULL, 'k'},
        {0},
    };
    *o = (Options){0};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        o->size |= c == 's';
        o->speed |= c == 't';
        if (c == 'k')
            o->show = optarg;
        if (c == '?')
            return false;
    }
    if (!o->size && !o->speed && !o->show)
        o->size = o->speed = true;
    return optind == argc;
}

int main(int argc, char **argv) {
    Options o;
    if (!parse(argc, argv, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    ElfError error;
    ElfFile *self = elf_open("/proc/self/exe", &error);
    if (!self) {
        fprintf(stderr, "bench-quality: cannot read this program's symbols: %s\n", error.text);
        return 2;
    }
    drivers_init();
    bool ok = true;
    if (o.show)
        ok &= show(self, o.show);
    if (o.size)
        ok &= compare_sizes(self);
    if (o.speed)
        ok &= compare_speed();
    elf_close(self);
    return ok ? 0 : 1;
}
