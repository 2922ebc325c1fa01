/* study.h: what the studies have in common: a kernel with parameters that are known at run time, as it was compiled and as
 * binopt makes it, on the same input; their results compared, and with --bench their times.
 *
 * A study fills in a Study for each configuration and gives it to study_run. */
#ifndef EXAMPLES_STUDY_H
#define EXAMPLES_STUDY_H

#include <binopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STUDY_ROUNDS = 25, STUDY_SECONDS = 2, STUDY_RIVALS = 2 };

/* The kernel with the parameters in its source, as a compiler makes it: same signature, same results. */
typedef struct StudyRival {
    const char *compiler; /* NULL: there is none */
    void *kernel;
} StudyRival;

typedef struct Study {
    const char *name; /* of this configuration */
    BinoptFunc kernel;
    void (*configure)(BinoptCfgRef cfg, void *user);
    void (*run)(BinoptFunc kernel, void *user); /* the whole workload, once */
    const StudyRival *rivals;                   /* STUDY_RIVALS of them, or NULL */
    const void *result;                         /* of run: floats, or with `exact` bytes */
    size_t result_bytes;
    bool exact;
    double units; /* of work in the workload: pixels, rows, packets, records */
    void *user;
} Study;

static inline double study_seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Two floats may differ by what reordering does to rounding. */
static inline bool study_equal(const Study *s, const void *a, const void *b) {
    const float *x = a, *y = b;
    if (s->exact)
        return !memcmp(a, b, s->result_bytes);
    for (size_t i = 0; i < s->result_bytes / sizeof(float); i++)
        if (!(fabsf(x[i] - y[i]) <= 1e-5f + 1e-4f * fabsf(x[i])))
            return false;
    return true;
}

static inline BinoptFunc study_specialize(const Study *s, BinoptHandle handle, double *seconds) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, s->kernel);
    s->configure(cfg, s->user);
    binopt_cfg_set(cfg, BINOPT_F_NOWRAP, 1);
    double start = study_seconds(CLOCK_THREAD_CPUTIME_ID);
    BinoptFunc made = binopt_spec_create(cfg);
    *seconds = study_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    binopt_cfg_free(cfg);
    return made;
}

/* CPU time: the machine may have other things to do. */
static inline double study_time(const Study *s, BinoptFunc kernel, double best) {
    double start = study_seconds(CLOCK_THREAD_CPUTIME_ID);
    s->run(kernel, s->user);
    double took = study_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    return took < best ? took : best;
}

static inline const StudyRival *study_rival(const Study *s, int i) {
    return s->rivals && s->rivals[i].compiler ? &s->rivals[i] : NULL;
}

typedef struct StudyTimes {
    double general, special, rival[STUDY_RIVALS]; /* seconds, the best of all rounds */
} StudyTimes;

static inline StudyTimes study_measure(const Study *s, BinoptFunc made) {
    StudyTimes t = {1e9, 1e9, {1e9, 1e9}};
    double end = study_seconds(CLOCK_MONOTONIC) + STUDY_SECONDS;
    for (int i = 0; i < 3 || (i < STUDY_ROUNDS && study_seconds(CLOCK_MONOTONIC) < end); i++) {
        t.general = study_time(s, s->kernel, t.general);
        t.special = study_time(s, made, t.special);
        for (int k = 0; k < STUDY_RIVALS; k++)
            if (study_rival(s, k))
                t.rival[k] = study_time(s, study_rival(s, k)->kernel, t.rival[k]);
    }
    return t;
}

/* Units of work after which rewriting has paid: what it costs, over what one unit gains. */
static inline void study_report(const Study *s, const StudyTimes *t, double rewriting, bool same) {
    double general = t->general, special = t->special, gain = (general - special) / s->units;
    printf("%-24s %10.2f ns %10.2f ns   %5.1f%% less   %7.2f ms", s->name, general / s->units * 1e9,
           special / s->units * 1e9, 100 * (1 - special / general), rewriting * 1e3);
    if (same)
        printf("     left alone");
    else if (gain > 0)
        printf("   %12.0f", rewriting / gain);
    else
        printf("          never");
    for (int k = 0; k < STUDY_RIVALS; k++)
        if (study_rival(s, k))
            printf("   %s %5.1f%% less", study_rival(s, k)->compiler, 100 * (1 - t->rival[k] / general));
    printf("\n");
}

/* Do the rivals come to the same? */
static inline bool study_rivals_agree(const Study *s, const void *want) {
    for (int k = 0; k < STUDY_RIVALS; k++) {
        if (!study_rival(s, k))
            continue;
        s->run(study_rival(s, k)->kernel, s->user);
        if (!study_equal(s, want, s->result))
            return false;
    }
    return true;
}

/* False: the results differ. */
static inline bool study_run(const Study *s, BinoptHandle handle, bool bench) {
    double rewriting;
    BinoptFunc made = study_specialize(s, handle, &rewriting);
    void *want = malloc(s->result_bytes);
    s->run(s->kernel, s->user);
    memcpy(want, s->result, s->result_bytes);
    memset((void *)s->result, 0, s->result_bytes);
    s->run(made, s->user);
    bool equal = study_equal(s, want, s->result) && study_rivals_agree(s, want);
    free(want);
    if (bench) {
        StudyTimes t = study_measure(s, made);
        study_report(s, &t, rewriting, made == s->kernel);
    }
    if (!equal)
        printf("%s: the results differ\n", s->name);
    binopt_spec_delete(handle, made);
    return equal;
}

/* The first specialisation of a process also pays for starting LLVM: one that nobody measures. */
static int study_nothing(int a) {
    return a;
}

static inline BinoptHandle study_begin(int argc, char **argv, const char *what, bool *bench) {
    BinoptHandle handle = binopt_init();
    *bench = argc > 1 && !strcmp(argv[1], "--bench");
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)study_nothing);
    binopt_cfg_type(cfg, 1, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_spec_create(cfg);
    if (*bench)
        printf("%s, by %s: time for one %s, rewriting time, and after how many it has paid\n%-24s %13s %13s\n", argv[0],
               binopt_driver(), what, "", "general", "specialised");
    return handle;
}

#endif
