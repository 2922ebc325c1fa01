/* diff.c: the program fuzz-diff, one for each guest: random instructions in random states, on the guest's oracle and as
 * lifted code.
 *
 * Samples are made in batches, because compiling is by far the dearest part; each batch is compiled in one of the
 * modes of the instruction cases. docs/fuzzing.md says how to use it.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "compare.h"
#include "draw.h"

#define BATCH 200
#define REPORTS_PER_ROW 3

typedef struct Options {
    u64 seed, count;
    u32 length;
    double seconds;
    const char *row;
    int mode; /* LiftedMode, or -1: in turn */
    bool list;
} Options;

typedef struct Tally {
    u64 run, different, open;
} Tally;

typedef struct Fuzz {
    Options options;
    u32 row_count;
    Tally *by_row;
    Sample *samples;
    u32 *row_of;
    VEC(Case) cases;
    u64 done, next_seed;
    struct timespec start;
} Fuzz;

static const char usage[] = "Usage: fuzz-diff [OPTION]...\n"
                            "Runs random instructions on the oracle (" GUEST_ORACLE ") and as lifted code, and\n"
                            "reports where they differ.\n"
                            "\n"
                            "  --seed=N      of the first sample; sample i has seed N + i (1)\n"
                            "  --count=N     samples (4000)\n"
                            "  --seconds=S   stop after about that time\n"
                            "  --row=NAME    only this instruction\n"
                            "  --length=N    up to N instructions in every other sample (6)\n"
                            "  --mode=MODE   unoptimised, optimised or pic; else in turn\n"
                            "  --list        print the forms of each instruction and end\n";

static double elapsed(const Fuzz *f) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - f->start.tv_sec) + (double)(now.tv_nsec - f->start.tv_nsec) / 1e9;
}

static bool is_time_up(const Fuzz *f) {
    return f->options.seconds > 0 && elapsed(f) > f->options.seconds;
}

static void draw(Fuzz *f, size_t at) {
    Sample *s = &f->samples[at];
    f->row_of[at] = draw_sample(f->row_count, &f->next_seed, f->options.length, s);
    VEC_PUSH(&f->cases, ((Case){.file = "sample", .code = s->code, .size = s->size}));
}

static void judge_compiled(Fuzz *f, const Lifted *l, size_t index, size_t i, LiftedMode mode) {
    Tally *t = &f->by_row[f->row_of[i]];
    Verdict v = compare_sample(l, index, &f->cases.at[i], &f->samples[i]);
    t->open += v == VERDICT_OPEN;
    if (v == VERDICT_DIFFERENT && t->different++ < REPORTS_PER_ROW)
        compare_report(l, index, &f->cases.at[i], &f->samples[i], lifted_mode_names[mode]);
}

/* One instruction that LLVM cannot compile spoils its whole module: the sample is tried again alone. */
static void judge_alone(Fuzz *f, size_t i, LiftedMode mode) {
    CaseList one = {&f->cases.at[i], 1, 1};
    Lifted *l = lifted_new(&one, mode);
    const char *problem = lifted_problem(l, 0);
    if (!problem)
        judge_compiled(f, l, 0, i, mode);
    else if (f->by_row[f->row_of[i]].different++ < REPORTS_PER_ROW)
        printf("NOT LIFTED [%s] seed %llu: %s: %s\n", lifted_mode_names[mode], (unsigned long long)f->samples[i].seed,
               sample_row_name(f->row_of[i]), problem);
    lifted_free(l);
}

static void judge(Fuzz *f, const Lifted *l, size_t i, LiftedMode mode) {
    f->by_row[f->row_of[i]].run++;
    if (lifted_problem(l, i))
        judge_alone(f, i, mode);
    else
        judge_compiled(f, l, i, i, mode);
}

/* Unoptimised code compiles three times as fast and shows most differences: every other batch is. */
static LiftedMode mode_of_batch(const Fuzz *f, u64 batch) {
    static const LiftedMode turn[] = {LIFTED_UNOPTIMISED, LIFTED_OPTIMISED, LIFTED_UNOPTIMISED, LIFTED_PIC};
    return f->options.mode >= 0 ? (LiftedMode)f->options.mode : turn[batch % ARRAY_LEN(turn)];
}

static void run_batch(Fuzz *f, u64 batch) {
    u64 left = f->options.count - f->done;
    size_t n = left < BATCH ? left : BATCH;
    LiftedMode mode = mode_of_batch(f, batch);
    f->cases.len = 0;
    for (size_t i = 0; i < n; i++)
        draw(f, i);
    CaseList list = {f->cases.at, f->cases.len, f->cases.cap};
    Lifted *l = lifted_new(&list, mode);
    for (size_t i = 0; i < n; i++)
        judge(f, l, i, mode);
    lifted_free(l);
    f->done += n;
}

/* True if something was compared, and nothing was different. */
static bool summarise(const Fuzz *f) {
    u64 different = 0, open = 0;
    for (size_t i = 0; i < f->row_count; i++) {
        different += f->by_row[i].different;
        open += f->by_row[i].open;
        if (f->by_row[i].different)
            printf("%-16s %llu of %llu differ\n", sample_row_name((u32)i), (unsigned long long)f->by_row[i].different,
                   (unsigned long long)f->by_row[i].run);
    }
    printf("%llu samples of %u forms of %u instructions in %.0f s: %llu differ, %llu have no defined result\n",
           (unsigned long long)f->done, sample_form_count(), f->row_count, elapsed(f), (unsigned long long)different,
           (unsigned long long)open);
    if (f->done == open)
        printf("FAIL: nothing was compared\n");
    return f->done > open && !different;
}

static int mode_named(const char *name) {
    for (int i = 0; i < LIFTED_MODES; i++)
        if (!strcmp(name, lifted_mode_names[i]))
            return i;
    fprintf(stderr, "fuzz-diff: there is no mode '%s'\n%s", name, usage);
    exit(2);
}

static Options parse_options(int argc, char **argv) {
    static const struct option names[] = {
        {"seed", required_argument, NULL, 's'},
        {"count", required_argument, NULL, 'n'},
        {"row", required_argument, NULL, 'r'},
        {"seconds", required_argument, NULL, 't'},
        {"mode", required_argument, NULL, 'm'},
        {"length", required_argument, NULL, 'k'},
        {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    Options o = {.seed = 1, .length = 6, .mode = -1};
    for (int c; (c = getopt_long(argc, argv, "h", names, NULL)) != -1;) {
        switch (c) {
        case 's':
            o.seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            o.count = strtoull(optarg, NULL, 0);
            break;
        case 'r':
            o.row = optarg;
            break;
        case 't':
            o.seconds = strtod(optarg, NULL);
            break;
        case 'm':
            o.mode = mode_named(optarg);
            break;
        case 'k':
            o.length = (u32)strtoul(optarg, NULL, 0);
            break;
        case 'l':
            o.list = true;
            break;
        default:
            fputs(usage, c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
    if (!o.count)
        o.count = o.seconds > 0 ? ~(u64)0 : 4000;
    return o;
}

int main(int argc, char **argv) {
    static Fuzz f;
    setvbuf(stdout, NULL, _IOLBF, 0);
    f.options = parse_options(argc, argv);
    clock_gettime(CLOCK_MONOTONIC, &f.start);
    f.row_count = sample_find(f.options.row);
    if (!f.row_count) {
        fprintf(stderr, "fuzz-diff: there is no instruction '%s' to compare\n", f.options.row);
        return 2;
    }
    if (f.options.list) {
        for (u32 i = 0; i < f.row_count; i++)
            sample_list(i);
        return 0;
    }
    f.next_seed = f.options.seed;
    f.by_row = mem_new(f.row_count * sizeof(Tally));
    f.samples = mem_new(BATCH * sizeof(Sample));
    f.row_of = mem_new(BATCH * sizeof(u32));
    for (u64 batch = 0; f.done < f.options.count && !is_time_up(&f); batch++)
        run_batch(&f, batch);
    return summarise(&f) ? 0 : 1;
}
