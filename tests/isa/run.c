/* run.c: the program isa-cases, one for each guest: runs instruction cases on the guest's oracle and as lifted code, and
 * compares.
 *
 * A case's expected column is what the oracle did (--update writes it), and lifted code must do the same in every mode.
 * docs/testing.md has the case format.
 */
#include <getopt.h>
#include <glob.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "assemble.h"
#include "coverage.h"
#include "hosted.h"
#include "lifted.h"
#include "oracle.h"
#include "stencils.h"

typedef struct Options {
    bool oracle_only, own, update, check_coverage;
    const char *filter, *without;
    int mode;          /* LiftedMode, or -1: all */
    HostedTools tools; /* of --host */
    size_t sample;     /* of how many cases one is run; 0: all are */
} Options;

/* Cases in a row that were skipped: `len` characters of the first instruction's name, and the reason. */
typedef struct Skip {
    const char *name;
    int len;
    const char *why;
    size_t count;
} Skip;

typedef struct Run {
    Options options;
    Arena arena;
    VEC(const char *) files;
    CaseList list;
    size_t passed, failed, skipped;
    Skip skip;
} Run;

static const char usage[] =
    "Usage: isa-cases [OPTION]... FILE-OR-FOLDER...\n"
    "Runs instruction cases on the oracle (" GUEST_ORACLE ") and as lifted code, and compares with what they expect.\n"
    "\n"
    "  --oracle-only     only on the oracle\n"
    "  --own             the oracle is Lathe's own code: an instruction that it does not have is a failure\n"
    "  --mode=MODE       of the lifted modes only this: unoptimised, optimised or pic; or stencils\n"
    "  --filter=REGEX    only cases whose instructions match\n"
    "  --without=REGEX   none whose instructions match\n"
    "  --host=NAME       only as code for that host, which qemu runs; with\n"
    "  --cc=CC           a C compiler for that host, that links, and\n"
    "  --with=OBJECTS    the runner and the helpers of lifted code\n"
    "  --sample=N        of N cases one\n"
    "  --update          write what the oracle does into the expected column of the files\n"
    "  --check-coverage  only check that every supported instruction has a case\n";

/* ---------------------------------------------------------------------------------------------------- comparing */

static void print_failure(const Case *c, const char *mode, const char *want, const char *got) {
    printf("FAIL %s:%d [%s] %s | %s\n  expected %s\n  got      %s\n", c->file, c->line, mode, c->insns, c->initial,
           want, got);
}

static bool same_trap(const Case *c, const char *mode, u32 want, u32 got) {
    if (want != got)
        print_failure(c, mode, state_trap_name(want), state_trap_name(got));
    return want == got;
}

static bool compare(Run *r, const Case *c, const char *mode, const State *want, const State *got, const State *ignore) {
    const char *wrong = state_changes(&r->arena, want, got, ignore);
    if (*wrong)
        print_failure(c, mode, state_changes(&r->arena, got, want, ignore), wrong);
    return !*wrong;
}

static void count(Run *r, bool ok) {
    if (ok)
        r->passed++;
    else
        r->failed++;
}

/* -------------------------------------------------------------------------------------------------- on the oracle */

/* Prints and forgets what has been skipped since the last call. */
static void tell_skipped(Run *r) {
    if (r->skip.count)
        printf("skip %zu of '%.*s': %s\n", r->skip.count, r->skip.len, r->skip.name, r->skip.why);
    r->skip.count = 0;
}

/* Cases of one instruction follow each other, and share a line. */
static void skip(Run *r, const Case *c, const char *why) {
    int len = (int)strcspn(c->insns, " ");
    if (len != r->skip.len || strncmp(c->insns, r->skip.name, (size_t)len) || why != r->skip.why)
        tell_skipped(r);
    r->skip = (Skip){c->insns, len, why, r->skip.count + 1};
    r->skipped++;
}

/* False: the oracle does not have the instruction. */
static bool is_known(const State *got, const State *want) {
    bool undefined = got->cpu.trap == LATHE_TRAP_UNDEFINED;
    return !undefined || want->cpu.trap == LATHE_TRAP_UNDEFINED;
}

static void check_on_oracle(Run *r, const Case *c) {
    State initial, want, ignore;
    if (!cases_states(c, &initial, &want, &ignore)) {
        r->failed++;
        return;
    }
    State got = initial;
    oracle_run(&got, c->code, c->size, want.cpu.trap);
    if (!is_known(&got, &want) && !r->options.own) {
        skip(r, c, "not an instruction of " GUEST_ORACLE);
        return;
    }
    guest_open(c, &initial, &ignore);
    oracle_limits(&ignore);
    count(r, compare(r, c, GUEST_ORACLE, &want, &got, &ignore));
}

static void check_all_on_oracle(Run *r) {
    for (size_t i = 0; i < r->list.len; i++) {
        if (r->list.at[i].by_hand)
            skip(r, &r->list.at[i], "by hand, for lifted code only");
        else
            check_on_oracle(r, &r->list.at[i]);
    }
    tell_skipped(r);
}

/* ---------------------------------------------------------------------------------------------------- lifted code */

/* Runs the code of a case on *state. Returns false if it ended in a trap. */
typedef bool RunCase(void *code, size_t index, State *state);

/* problem: why the case was not lifted, or NULL. */
static void check_code(Run *r, size_t index, const char *mode, const char *problem, RunCase *run, void *code) {
    const Case *c = &r->list.at[index];
    State got, want, ignore;
    if (problem)
        printf("FAIL %s:%d [%s] %s: not lifted: %s\n", c->file, c->line, mode, c->insns, problem);
    if (problem || !cases_states(c, &got, &want, &ignore)) {
        r->failed++;
        return;
    }
    guest_open(c, &got, &ignore);
    bool whole = run(code, index, &got);
    count(r, whole ? compare(r, c, mode, &want, &got, &ignore) : same_trap(c, mode, want.cpu.trap, got.cpu.trap));
}

static bool run_lifted(void *code, size_t index, State *state) {
    return lifted_run(code, index, state);
}

static void check_all_lifted(Run *r, LiftedMode mode) {
    Lifted *l = lifted_new(&r->list, mode);
    for (size_t i = 0; i < r->list.len; i++)
        check_code(r, i, lifted_mode_names[mode], lifted_problem(l, i), run_lifted, l);
    lifted_free(l);
}

/* -------------------------------------------------------------------------------------------------- code of stencils */

enum { MODE_STENCILS = LIFTED_MODES };
static const char stencils_name[] = "stencils";

#ifdef GUEST_STENCILS
static void check_stencils(Run *r, Stencils *s, size_t index) {
    const Case *c = &r->list.at[index];
    State initial, got, want, ignore;
    if (!cases_states(c, &initial, &want, &ignore)) {
        r->failed++;
        return;
    }
    got = initial;
    guest_open(c, &got, &ignore);
    bool whole = stencils_run(s, index, &got);
    if (!guest_settle_fast(c, &initial, &want, &got))
        skip(r, c, "fast floating point with other modes");
    else
        count(r, whole ? compare(r, c, stencils_name, &want, &got, &ignore)
                       : same_trap(c, stencils_name, want.cpu.trap, got.cpu.trap));
}

static void check_all_stencils(Run *r) {
    Stencils *s = stencils_new(&r->list, &r->options.tools);
    for (size_t i = 0; i < r->list.len; i++) {
        if (stencils_missing(s, i))
            skip(r, &r->list.at[i], "left to optimised code");
        else
            check_stencils(r, s, i);
    }
    tell_skipped(r);
    stencils_free(s);
}
#else
static void check_all_stencils(Run *r) {
    (void)r;
}
#endif

/* ---------------------------------------------------------------------------------------------------- on another host */

static bool run_hosted(void *code, size_t index, State *state) {
    return hosted_run(code, index, state);
}

static void check_hosted(Run *r, Hosted *h, size_t index, const char *mode) {
    const Case *c = &r->list.at[index];
    const char *deviation = hosted_deviation(h, c);
    if (deviation)
        skip(r, c, deviation);
    else
        check_code(r, index, mode, hosted_problem(h, index), run_hosted, h);
}

static void check_all_hosted(Run *r, LiftedMode mode) {
    Hosted *h = hosted_new(&r->list, mode, &r->options.tools);
    char name[64];
    snprintf(name, sizeof(name), "%s, %s", lathe_host_name(r->options.tools.host), lifted_mode_names[mode]);
    for (size_t i = 0; i < r->list.len; i++)
        check_hosted(r, h, i, name);
    tell_skipped(r);
    hosted_free(h);
}

/* ------------------------------------------------------------------------------------------------------- updating */

/* The expected column as the oracle has it; NULL: leave the line alone. */
static const char *expected_from_oracle(Run *r, const Case *c) {
    State initial, old, ignore;
    if (c->by_hand)
        return NULL;
    if (!cases_states(c, &initial, &old, &ignore)) {
        r->failed++;
        return NULL;
    }
    State got = initial;
    oracle_run(&got, c->code, c->size, old.cpu.trap);
    if (!is_known(&got, &old)) {
        printf("%s:%d: the oracle calls it undefined; if that is meant, expect trap=undefined: %s\n", c->file, c->line,
               c->insns);
        r->skipped++;
        return NULL;
    }
    r->passed++;
    guest_open(c, &initial, &ignore);
    initial.cpu.pc += got.cpu.trap ? 0 : c->size;
    return state_changes(&r->arena, &initial, &got, &ignore);
}

static void update(Run *r) {
    if (oracle_unfit()) {
        fprintf(stderr, "isa-cases: no --update here: %s\n", oracle_unfit());
        exit(2);
    }
    const char **expected = ARENA_ARRAY(&r->arena, const char *, r->list.len);
    for (size_t i = 0; i < r->list.len; i++)
        expected[i] = expected_from_oracle(r, &r->list.at[i]);
    for (size_t i = 0; i < r->files.len; i++)
        r->failed += !cases_write(r->files.at[i], &r->list, expected);
}

/* --------------------------------------------------------------------------------------------------------- set-up */

static int mode_named(const char *name) {
    for (int i = 0; i < LIFTED_MODES; i++)
        if (!strcmp(name, lifted_mode_names[i]))
            return i;
    if (!strcmp(name, stencils_name))
        return MODE_STENCILS;
    fprintf(stderr, "isa-cases: there is no mode '%s'\n%s", name, usage);
    exit(2);
}

static LatheHost host_named(const char *wanted) {
    const char *name;
    for (LatheHost host = LATHE_HOST_OWN; (name = lathe_host_name(++host));)
        if (!strcmp(name, wanted))
            return host;
    fprintf(stderr, "isa-cases: there is no host '%s'\n%s", wanted, usage);
    exit(2);
}

static Options parse_options(int argc, char **argv) {
    static const struct option names[] = {
        {"oracle-only", no_argument, NULL, 'o'},
        {"own", no_argument, NULL, 'O'},
        {"mode", required_argument, NULL, 'm'},
        {"filter", required_argument, NULL, 'f'},
        {"without", required_argument, NULL, 'w'},
        {"host", required_argument, NULL, 'H'},
        {"cc", required_argument, NULL, 'C'},
        {"with", required_argument, NULL, 'W'},
        {"sample", required_argument, NULL, 's'},
        {"update", no_argument, NULL, 'u'},
        {"check-coverage", no_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    Options o = {.mode = -1};
    for (int c; (c = getopt_long(argc, argv, "h", names, NULL)) != -1;) {
        switch (c) {
        case 'o':
            o.oracle_only = true;
            break;
        case 'O':
            o.own = true;
            break;
        case 'm':
            o.mode = mode_named(optarg);
            break;
        case 'f':
            o.filter = optarg;
            break;
        case 'w':
            o.without = optarg;
            break;
        case 'H':
            o.tools.host = host_named(optarg);
            break;
        case 'C':
            o.tools.cc = optarg;
            break;
        case 'W':
            o.tools.with = optarg;
            break;
        case 's':
            o.sample = strtoul(optarg, NULL, 10);
            break;
        case 'u':
            o.update = true;
            break;
        case 'c':
            o.check_coverage = true;
            break;
        default:
            fputs(usage, c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
    return o;
}

static void add_files(Run *r, const char *path) {
    struct stat st;
    if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
        VEC_PUSH(&r->files, path);
        return;
    }
    glob_t found = {0};
    glob(arena_printf(&r->arena, "%s/*.txt", path), 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        VEC_PUSH(&r->files, arena_printf(&r->arena, "%s", found.gl_pathv[i]));
    globfree(&found);
}

/* Of the cases that match, or of those that do not. */
static void keep(Run *r, const char *pattern, bool matching) {
    regex_t regex;
    size_t kept = 0;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB)) {
        fprintf(stderr, "isa-cases: '%s' is no regular expression\n", pattern);
        exit(2);
    }
    for (size_t i = 0; i < r->list.len; i++)
        if (!regexec(&regex, r->list.at[i].insns, 0, NULL, 0) == matching)
            r->list.at[kept++] = r->list.at[i];
    r->list.len = kept;
    regfree(&regex);
}

static void keep_sample(Run *r, size_t of) {
    size_t kept = 0;
    for (size_t i = 0; i < r->list.len; i += of)
        r->list.at[kept++] = r->list.at[i];
    r->list.len = kept;
}

static bool load(Run *r) {
    bool ok = true;
    for (size_t i = 0; i < r->files.len; i++)
        ok &= cases_read(r->files.at[i], &r->list, &r->arena);
    if (r->options.filter)
        keep(r, r->options.filter, true);
    if (r->options.without)
        keep(r, r->options.without, false);
    if (r->options.sample)
        keep_sample(r, r->options.sample);
    return assemble_cases(&r->list, &r->arena) && ok;
}

static void run_everything(Run *r) {
    if (r->options.update) {
        update(r);
        return;
    }
    if (r->options.tools.host && r->options.mode == MODE_STENCILS) {
        check_all_stencils(r);
        return;
    }
    if (r->options.tools.host) {
        check_all_hosted(r, r->options.mode < 0 ? LIFTED_OPTIMISED : (LiftedMode)r->options.mode);
        return;
    }
    if (r->options.mode < 0)
        check_all_on_oracle(r);
    for (int m = 0; m < LIFTED_MODES && !r->options.oracle_only; m++)
        if (r->options.mode < 0 || r->options.mode == m)
            check_all_lifted(r, (LiftedMode)m);
    if (!r->options.oracle_only && (r->options.mode < 0 || r->options.mode == MODE_STENCILS))
        check_all_stencils(r);
}

int main(int argc, char **argv) {
    static Run r;
    r.options = parse_options(argc, argv);
    for (int i = optind; i < argc; i++)
        add_files(&r, argv[i]);
    if (!r.files.len) {
        fputs(usage, stderr);
        return 2;
    }
    if (!load(&r))
        return 1;
    if (r.options.check_coverage)
        return coverage_check(&r.list) != 0;
    run_everything(&r);
    printf("%zu passed, %zu failed, %zu skipped (%zu cases)\n", r.passed, r.failed, r.skipped, r.list.len);
    if (!r.passed)
        printf("FAIL: no case was run\n");
    return r.failed || !r.passed;
}
