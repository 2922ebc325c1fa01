/* compare.c: runs each command of a list natively (or in another way that is known to be right) and under `lathe run`, with a
 * cache that is empty at first and then again with what it has, and compares output, standard error, exit status and fatal signal.
 *
 * Commands can be run by others that restrict them (prlimit, unshare): those of --under begin all runs, those of --inside belong to
 * the program, so that `lathe run` runs them, too. */
#include <getopt.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caselist.h"
#include "killer.h"
#include "trial.h"

enum { PASSED, FAILED, SKIPPED, OUTCOMES };
enum { STATUS_SKIPPED = 77 }; /* as meson has it */

typedef struct Settings {
    const char *lathe, *bin, *prefix, *scripts, *work, *tier, *cpu, *sample_every, *tool, *host;
    const char *oracle,
        *sysroot;           /* what runs programs that this machine does not, and their libraries; NULL: it does */
    const char *reference;  /* what the names of the same programs for this machine begin with; NULL: there are none */
    char **under, **inside; /* the words of both options */
    int jobs, timeout;
    int kill_every; /* milliseconds after which translation servers are killed, again and again (killer.h); 0: never */
    bool quick, keep;
    bool silent; /* the tool has nothing to say: what it prints is not kept apart from what the program prints */
    regex_t filter, without; /* of names: those that match the first, and not the second */
} Settings;

/* ------------------------------------------------------------------------------------------------------------ one case */

static size_t count_words(char *const *words) {
    size_t count = 0;
    while (words[count])
        count++;
    return count;
}

/* A new array: `words` and then argv. */
static char **in_front(char *const *words, char *const *argv) {
    size_t first = count_words(words), rest = count_words(argv);
    char **all = mem_new(sizeof(char *) * (first + rest + 1));
    memcpy(all, words, sizeof(char *) * first);
    memcpy(all + first, argv, sizeof(char *) * rest);
    return all;
}

static char **split_words(char *text) {
    char **words = mem_new(sizeof(char *) * (strlen(text) / 2 + 2));
    size_t count = 0;
    for (char *word; (word = strsep(&text, " "));)
        if (*word)
            words[count++] = word;
    return words;
}

/* As qemu takes it: where its libraries are, the program's own name, and its file. */
static char **under_oracle(const Settings *s, char **argv) {
    size_t size = strlen(s->bin) + strlen(argv[0]) + 2;
    char *file = mem_new(size);
    snprintf(file, size, "%s/%s", s->bin, argv[0]);
    char *words[] = {(char *)s->oracle, "-L", (char *)s->sysroot, "-0", argv[0], file, NULL};
    return in_front(words, argv + 1);
}

/* The same program as it was made for this machine. */
static char **by_reference(const Settings *s, const Case *c) {
    char **argv = case_argv(c, "");
    size_t size = strlen(s->reference) + strlen(argv[0]) + 1;
    char *file = mem_new(size);
    snprintf(file, size, "%s%s", s->reference, argv[0]);
    argv[0] = file;
    return argv;
}

static char **as_expected(const Settings *s, const Case *c, char **native) {
    if (s->reference)
        return by_reference(s, c);
    return s->oracle ? under_oracle(s, native) : native;
}

/* Some kinds of qemu write of a signal that ends the program, behind all that it has written itself. */
static void drop_epitaph(Output *err) {
    static const char start[] = "qemu: uncaught target signal ";
    char *at = err->size ? memmem(err->data, err->size, start, strlen(start)) : NULL;
    if (at)
        err->size = (size_t)(at - (char *)err->data);
}

static int judge(const char *name, const char *when, const Trial *expected, const Trial *got) {
    char *difference = trial_difference(expected, got);
    if (!difference)
        return PASSED;
    printf("FAIL %s, %s\n%s", name, when, difference);
    free(difference);
    return FAILED;
}

static int run_case(const Settings *s, const Case *c, size_t index) {
    char dir[4096];
    snprintf(dir, sizeof(dir), "%s/%zu", s->work, index);
    char *translated[] = {(char *)s->lathe, "run", "--", NULL};
    char **words = case_argv(c, s->prefix), **program = in_front(s->inside, words),
         **run = in_front(translated, program);
    char **native = in_front(s->under, program), **lathe = in_front(s->under, run);
    Trial expected = trial_run(as_expected(s, c, native), dir, s->timeout);
    if (s->oracle)
        drop_epitaph(&expected.err);
    if (trial_not_found(&expected)) {
        printf("FAIL %s: %s: not found\n", c->name, words[0]);
        return FAILED;
    }
    Trial cold = trial_run(lathe, dir, s->timeout);
    int outcome = judge(c->name, "cold cache", &expected, &cold);
    Trial warm = {0};
    if (!cold.timeout) {
        warm = trial_run(lathe, dir, s->timeout);
        outcome |= judge(c->name, "warm cache", &expected, &warm);
    }
    printf("%s %s%s: %.2f s native, %.2f s cold, %.2f s warm\n", outcome == PASSED ? "ok  " : "    ", s->prefix,
           c->name, expected.seconds, cold.seconds, warm.seconds);
    trial_free(&expected);
    trial_free(&cold);
    trial_free(&warm);
    free(lathe);
    free(native);
    free(run);
    free(program);
    free(words);
    return outcome;
}

/* ------------------------------------------------------------------------------------------------------------ all cases */

static int collect(int counts[OUTCOMES]) {
    int status;
    CHECK(wait(&status) > 0, "no worker to wait for");
    counts[WIFEXITED(status) && WEXITSTATUS(status) < OUTCOMES ? WEXITSTATUS(status) : FAILED]++;
    return 1;
}

static bool matches(const regex_t *pattern, const Case *c) {
    return !regexec(pattern, c->name, 0, NULL, 0);
}

static void run_all(const Settings *s, const CaseList *list, int counts[OUTCOMES]) {
    int running = 0;
    for (size_t i = 0; i < list->cases.len; i++) {
        const Case *c = &list->cases.at[i];
        if ((s->quick && !c->quick) || !matches(&s->filter, c) || matches(&s->without, c))
            continue;
        const char *lacks = case_lacks(c);
        if (lacks) {
            printf("skip %s: no %s\n", c->name, lacks);
            counts[SKIPPED]++;
            continue;
        }
        if (running == s->jobs)
            running -= collect(counts);
        fflush(stdout);
        pid_t pid = fork();
        CHECK(pid >= 0, "cannot fork");
        if (pid == 0) {
            int outcome = run_case(s, c, i);
            fflush(stdout);
            _exit(outcome);
        }
        running++;
    }
    while (running)
        running -= collect(counts);
}

/* Both runs would fail alike where the condition cannot be brought about. */
static bool can_restrict(const Settings *s) {
    char *nothing[] = {"true", NULL}, dir[4096];
    snprintf(dir, sizeof(dir), "%s/restricted", s->work);
    char **inside = in_front(s->inside, nothing), **all = in_front(s->under, inside);
    Trial t = trial_run(all, dir, s->timeout);
    bool ok = WIFEXITED(t.status) && !WEXITSTATUS(t.status);
    if (!ok)
        printf("skip all: '%s' cannot restrict a program here: %.*s\n", all[0], (int)t.err.size, t.err.data);
    trial_free(&t);
    free(inside);
    free(all);
    return ok;
}

static bool prepare(const CaseList *list) {
    for (size_t i = 0; i < list->prepare.len; i++)
        if (system(list->prepare.at[i])) {
            fprintf(stderr, "cannot prepare: %s\n", list->prepare.at[i]);
            return false;
        }
    return true;
}

/* The same surroundings everywhere: nothing of the user's, and directories of our own. */
static bool set_environment(const Settings *s) {
    char path[9000], cache[4096], data[4096], log[4096];
    snprintf(path, sizeof(path), "%s%s/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", s->bin, *s->bin ? ":" : "");
    snprintf(cache, sizeof(cache), "%s/cache", s->work);
    snprintf(data, sizeof(data), "%s/data", s->work);
    snprintf(log, sizeof(log), "%s/log", s->work);
    clearenv();
    setenv("PATH", path, 1);
    setenv("HOME", data, 1);
    setenv("DATA", data, 1);
    setenv("SCRIPTS", s->scripts, 1);
    setenv("LC_ALL", "C", 1);
    setenv("TZ", "UTC", 1);
    if (s->tool)
        setenv("LATHE_TOOL", s->tool, 1);
    if (s->tool && !s->silent)
        setenv("LATHE_LOG", log, 1);
    if (s->host) { /* where all code is optimised, the less the better */
        setenv("LATHE_HOST", s->host, 1);
        setenv("LATHE_OPT", "quick", 1);
    }
    setenv("LATHE_TIER", s->tier, 1);
    setenv("LATHE_CPU", s->cpu, 1);
    setenv("LATHE_SAMPLE_EVERY", s->sample_every, 1);
    setenv("LATHE_CACHE", cache, 1);
    setenv("LATHE_HOT_AFTER", "2", 1);     /* milliseconds: short programs have hot code, too */
    setenv("LATHE_COMPILE_AFTER", "0", 1); /* nothing goes on when a program has ended */
    return empty_directory(data) && empty_directory(cache);
}

/* -------------------------------------------------------------------------------------------------------- the arguments */

enum {
    OPT_BIN = 1,
    OPT_PREFIX,
    OPT_SCRIPTS,
    OPT_WORK,
    OPT_JOBS,
    OPT_TIMEOUT,
    OPT_QUICK,
    OPT_FILTER,
    OPT_WITHOUT,
    OPT_TIER,
    OPT_CPU,
    OPT_ORACLE,
    OPT_SYSROOT,
    OPT_REFERENCE,
    OPT_UNDER,
    OPT_INSIDE,
    OPT_KILL,
    OPT_SAMPLE_EVERY,
    OPT_TOOL,
    OPT_SILENT,
    OPT_HOST
};

static const struct option options[] = {
    {"bin", required_argument, NULL, OPT_BIN},
    {"prefix", required_argument, NULL, OPT_PREFIX},
    {"scripts", required_argument, NULL, OPT_SCRIPTS},
    {"work", required_argument, NULL, OPT_WORK},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"quick", no_argument, NULL, OPT_QUICK},
    {"filter", required_argument, NULL, OPT_FILTER},
    {"tier", required_argument, NULL, OPT_TIER},
    {"host", required_argument, NULL, OPT_HOST},
    {"cpu", required_argument, NULL, OPT_CPU},
    {"oracle", required_argument, NULL, OPT_ORACLE},
    {"sysroot", required_argument, NULL, OPT_SYSROOT},
    {"without", required_argument, NULL, OPT_WITHOUT},
    {"reference", required_argument, NULL, OPT_REFERENCE},
    {"under", required_argument, NULL, OPT_UNDER},
    {"inside", required_argument, NULL, OPT_INSIDE},
    {"kill-servers", required_argument, NULL, OPT_KILL},
    {"sample-every", required_argument, NULL, OPT_SAMPLE_EVERY},
    {"tool", required_argument, NULL, OPT_TOOL},
    {"silent", no_argument, NULL, OPT_SILENT},
    {0},
};

static int usage(void) {
    fprintf(stderr,
            "usage: run-compare [--bin=DIR] [--prefix=TEXT] [--scripts=DIR] [--work=DIR] [--jobs=N] [--timeout=S]\n"
            "                   [--quick] [--filter=REGEX] [--without=REGEX] [--tier=TIER] [--cpu=CPU]\n"
            "                   [--oracle=QEMU --sysroot=DIR | --under=WORDS --inside=WORDS] [--reference=TEXT]\n"
            "                   [--kill-servers=MS] [--sample-every=US] [--tool=FILE [--silent]] [--host=NAME] LATHE "
            "LIST\n");
    return 2;
}

static bool is_pattern(const char *text, regex_t *pattern) {
    bool ok = !regcomp(pattern, text, REG_EXTENDED | REG_NOSUB);
    if (!ok)
        fprintf(stderr, "run-compare: '%s' is no regular expression\n", text);
    return ok;
}

static bool parse(Settings *s, int argc, char **argv) {
    const char *filter = "", *without = "^$";
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case OPT_BIN:
            s->bin = optarg;
            break;
        case OPT_PREFIX:
            s->prefix = optarg;
            break;
        case OPT_SCRIPTS:
            s->scripts = optarg;
            break;
        case OPT_WORK:
            s->work = optarg, s->keep = true;
            break;
        case OPT_JOBS:
            s->jobs = atoi(optarg);
            break;
        case OPT_TIMEOUT:
            s->timeout = atoi(optarg);
            break;
        case OPT_QUICK:
            s->quick = true;
            break;
        case OPT_FILTER:
            filter = optarg;
            break;
        case OPT_WITHOUT:
            without = optarg;
            break;
        case OPT_TIER:
            s->tier = optarg;
            break;
        case OPT_CPU:
            s->cpu = optarg;
            break;
        case OPT_ORACLE:
            s->oracle = optarg;
            break;
        case OPT_SYSROOT:
            s->sysroot = optarg;
            break;
        case OPT_REFERENCE:
            s->reference = optarg;
            break;
        case OPT_UNDER:
            s->under = split_words(optarg);
            break;
        case OPT_INSIDE:
            s->inside = split_words(optarg);
            break;
        case OPT_KILL:
            s->kill_every = atoi(optarg);
            break;
        case OPT_HOST:
            s->host = optarg;
            break;
        case OPT_SAMPLE_EVERY:
            s->sample_every = optarg;
            break;
        case OPT_TOOL:
            s->tool = optarg;
            break;
        case OPT_SILENT:
            s->silent = true;
            break;
        default:
            return false;
        }
    }
    bool restricted = *s->under || *s->inside;
    return is_pattern(filter, &s->filter) && is_pattern(without, &s->without) && argc - optind == 2 && s->jobs > 0 &&
           s->timeout > 0 && !(restricted && (s->oracle || s->reference));
}

int main(int argc, char **argv) {
    char work[] = "/tmp/lathe-compare-XXXXXX";
    Settings s = {.bin = "",
                  .prefix = "",
                  .scripts = "",
                  .tier = "auto",
                  .cpu = "auto",
                  .sample_every = "0",
                  .jobs = 1,
                  .timeout = 60,
                  .under = split_words(""),
                  .inside = split_words("")};
    CaseList list;
    if (!parse(&s, argc, argv))
        return usage();
    if (!caselist_read(&list, argv[optind + 1]))
        return 2;
    s.lathe = realpath(argv[optind], NULL);
    if (!s.work)
        s.work = mkdtemp(work);
    if (!s.lathe || !s.work || !empty_directory(s.work) || !set_environment(&s) || !prepare(&list)) {
        fprintf(stderr, "run-compare: cannot begin\n");
        return 2;
    }
    if (!can_restrict(&s))
        return STATUS_SKIPPED;
    int counts[OUTCOMES] = {0};
    pid_t killer = s.kill_every ? killer_start(s.work, s.kill_every) : 0;
    run_all(&s, &list, counts);
    bool killed = !killer || killer_stop(killer);
    printf("%d passed, %d failed, %d skipped\n", counts[PASSED], counts[FAILED], counts[SKIPPED]);
    if (!s.keep && empty_directory(s.work))
        rmdir(s.work);
    caselist_free(&list);
    if (!counts[PASSED] && !counts[FAILED])
        printf("FAIL: no program was run\n");
    return counts[FAILED] || !counts[PASSED] || !killed ? 1 : 0;
}
