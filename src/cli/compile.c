/* compile.c: `lathe compile`: translates programs and their libraries before they run, into the cache that `lathe run`
 * reads. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/start/code_config.h"
#include "cli/start/identity.h"
#include "cli/start/programs.h"
#include "isa/kinds.h"
#include "run/ahead/ahead.h"

enum { OPT_QUICK, OPT_FULL };
enum { TIER_OPT, TIER_AUTO };
enum { MORE_NO, MORE_YES };
enum { JOBS_MAX = 1024, PATH_SIZE = 256, STATUS_INTERRUPTED = 130 };

typedef struct CompileSettings {
    const char *sysroot, *cache;
    u64 jobs;
    int tier, opt, optimize;
    bool strict_fp, signals, profile, quiet;
} CompileSettings;

#define AT(field) offsetof(CompileSettings, field)

// clang-format off
static const Option table[] = {
    {NULL, NULL, "For which runs:", OPTION_HEADING, 0},
    {"tier",      "opt|auto",   "those with this --tier (opt)",                   OPTION_CHOICE, AT(tier)},
    {"opt",       "quick|full", "those with this --opt (full)",                   OPTION_CHOICE, AT(opt)},
    {"strict-fp", NULL,         "those with --strict-fp",                         OPTION_FLAG,   AT(strict_fp)},
    {"signals",   NULL,         "also those of programs with handlers of signals", OPTION_FLAG,   AT(signals)},
    {"cache",     "DIR",        "those with this --cache (~/.cache/lathe)",       OPTION_TEXT,   AT(cache)},
    {"L",         "DIR",        "those with this -L, for the ELF interpreter",    OPTION_TEXT,   AT(sysroot)},
    {NULL, NULL, "What to do:", OPTION_HEADING, 0},
    {"optimize",  "1|2",        "2: optimise more, also what is in the cache already", OPTION_CHOICE, AT(optimize)},
    {"profile",   NULL,         "only what earlier runs found hot, the hottest first",         OPTION_FLAG,   AT(profile)},
    {"j",         "N",          "so many processes at a time (one for each CPU)", OPTION_NUMBER, AT(jobs)},
    {"quiet",     NULL,         "do not show progress",                           OPTION_FLAG,   AT(quiet)},
    {0},
};
// clang-format on

static const OptionSet options = {
    .command = "lathe compile",
    .usage = "[OPTION]... PROG|LIB...",
    .about = "Translates programs and libraries, and the libraries that they need, ahead of time for lathe run.",
    .table = table,
};

static volatile int interrupted;

static void on_interrupt(int signal) {
    (void)signal;
    interrupted = 1;
}

static CodeConfig config_for(const CompileSettings *s, const Kind *kind, const char *build, bool with_quick,
                             bool polls) {
    return code_config(kind, build, s->opt == OPT_QUICK ? LATHE_OPT_QUICK : LATHE_OPT_FULL, s->strict_fp, with_quick,
                       polls);
}

/* A name without slash is searched for in PATH, as lathe run does. Returns false if it is not found. */
static bool find_program(const char *name, char found[PATH_MAX]) {
    const char *dir = getenv("PATH");
    if (strchr(name, '/') || access(name, F_OK) == 0)
        return snprintf(found, PATH_MAX, "%s", name) < PATH_MAX;
    for (dir = dir ? dir : "/usr/local/bin:/usr/bin:/bin";;) {
        int width = (int)strcspn(dir, ":");
        if (snprintf(found, PATH_MAX, "%.*s%s%s", width, dir, width ? "/" : "./", name) < PATH_MAX &&
            access(found, X_OK) == 0)
            return true;
        if (!dir[width])
            return false;
        dir += width + 1;
    }
}

/* A file of an unknown kind counts as the host's; reading it later says what is wrong with it. */
static const Kind *kind_of(const char *path) {
    const Kind *kind = kind_of_file(path);
    return kind ? kind : kind_of_host();
}

static bool add_operands(AheadFiles *files, const AheadPlan *plan, char **names, int count) {
    bool ok = true;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        if (find_program(names[i], path) && kind_of(path) == plan->kind)
            ok &= files_add(files, plan, path);
    }
    return ok;
}

typedef struct ObjectSums {
    u64 done, insns, had, no_code, given_up, lost;
} ObjectSums;

static ObjectSums add_up(const AheadFiles *files, const AheadPlan *plan) {
    ObjectSums s = {0};
    for (size_t i = 0; i < files->len; i++) {
        const AheadFile *f = files->at[i];
        u64 kept = file_count_kept(f, plan), made = f->done + f->had;
        s.done += f->done;
        s.insns += f->insns;
        s.had += f->had;
        s.no_code += f->no_code;
        s.given_up += f->given_up;
        s.lost += made > kept ? made - kept : 0;
    }
    return s;
}

/* Prints the result and returns the exit status. */
static int report(const AheadFiles *files, const AheadPlan *plan, CrewEnd end, u64 ms, bool quiet) {
    ObjectSums s = add_up(files, plan);
    if (!quiet)
        fprintf(stderr,
                "%lu files: %lu functions translated, %lu guest instructions, %lu.%lu s; %lu were there already\n",
                files->len, s.done, s.insns, ms / 1000, ms / 100 % 10, s.had);
    if (s.lost)
        fprintf(stderr, "lathe: %s: %lu functions could not be kept: the disk is full, or LATHE_CACHE_SIZE too small\n",
                plan->cache_dir, s.lost);
    if (end == CREW_NO_SERVER)
        fprintf(stderr, "lathe: %s does not work\n", plan->server);
    if (end == CREW_INTERRUPTED)
        fprintf(stderr, "lathe: interrupted; what is translated is kept\n");
    if (end == CREW_INTERRUPTED)
        return STATUS_INTERRUPTED;
    return s.lost || s.given_up || end != CREW_FINISHED;
}

static void heed_interrupts(void) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* The next run takes its code from the packs, and leaves a new image. */
static void drop_images(const AheadPlan *plan, Key pack) {
    pack.word[1] ^= pack_key_kind(&plan->config);
    pack_drop_images(plan->cache_dir, pack);
}

/* Translates for one configuration and returns the exit status. */
static int translate(const AheadPlan *plan, AheadFiles *files, bool quiet) {
    u64 start = ahead_now_ms();
    files_prepare(files, plan);
    Progress *progress = progress_new(files, quiet);
    CrewEnd end = crew_run(files, plan, progress, &interrupted);
    /* Quick code finds the targets of computed jumps by itself. */
    bool inner = !plan->profile && !plan->config.with_quick;
    while (inner && end == CREW_FINISHED && files_prepare_inner(files, plan))
        end = crew_run(files, plan, progress, &interrupted);
    progress_files(progress);
    progress_end(progress);
    for (size_t i = 0; i < files->len; i++)
        if (files->at[i]->done)
            drop_images(plan, files->at[i]->pack);
    return report(files, plan, end, ahead_now_ms() - start, quiet);
}

/* Translates for a kind of code that the program changes to; returns the exit status, which was `became` so far. */
static int translate_again(const AheadPlan *plan, AheadFiles *files, bool quiet, const char *when, int became) {
    if (!quiet)
        fprintf(stderr, "once more, for when it handles %s:\n", when);
    int again = translate(plan, files, quiet);
    return again ? again : became;
}

/* Compiles the files of the plan's kind. A program that handles signals runs code of another configuration from its
 * first handler on, so it is translated for both; what handles faults, only if runs have shown that it has such code. */
static int compile(AheadPlan *plan, const CompileSettings *s, char **names, int count) {
    AheadFiles files = {0};
    int status = !add_operands(&files, plan, names, count);
    if (files.len) {
        files_add_vdso(&files, plan);
        heed_interrupts();
        int became = translate(plan, &files, s->quiet);
        plan->config.polls = true;
        if (!interrupted && (s->signals || files_handle_signals(&files)))
            became = translate_again(plan, &files, s->quiet, "signals", became);
        plan->config.exact = true;
        if (!interrupted && plan->profile && plan->config.with_quick &&
            files_learned_exact(&files, plan, &plan->seen_by[0]))
            became = translate_again(plan, &files, s->quiet, "faults", became);
        status = became ? became : status;
    }
    files_free(&files);
    return status;
}

/* True if files can be stored there. */
static bool check_cache(const char *dir) {
    PackWriter *w = pack_writer_open(dir);
    if (!w)
        fprintf(stderr, "lathe: %s: nothing can be kept there\n", dir);
    pack_writer_close(w);
    return w;
}

static u32 worker_count(const CompileSettings *s) {
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return s->jobs ? (u32)s->jobs : cpus > 0 ? (u32)cpus : 1;
}

static int compile_kind(const CompileSettings *s, const Kind *kind, const char *server, const char *cache, char **names,
                        int count) {
    char build[IDENTITY_SIZE], sysroot[PATH_SIZE];
    identity_of(server, build);
    kind_sysroot(kind, sysroot, sizeof(sysroot));
    AheadPlan plan = {
        .kind = kind,
        .config = config_for(s, kind, build, s->tier == TIER_AUTO, false),
        .seen_by = {config_for(s, kind, build, true, false), config_for(s, kind, build, true, true),
                    config_for(s, kind, build, false, false)},
        .profile = s->profile,
        .renew = s->optimize == MORE_YES,
        .cache_dir = cache,
        .server = server,
        .sysroot = s->sysroot ? s->sysroot : sysroot,
        .jobs = worker_count(s),
    };
    plan.opt = s->optimize == MORE_YES ? LATHE_OPT_MAX : (LatheOpt)plan.config.opt;
    return compile(&plan, s, names, count);
}

/* Compiles one kind of guest after the other, in the order in which they first appear. */
static int compile_all(const CompileSettings *s, const char *server, const char *cache, char **names, int count) {
    const Kind *done[count];
    int status = 0, kinds = 0;
    for (int i = 0; i < count && !interrupted; i++) {
        char path[PATH_MAX];
        if (!find_program(names[i], path)) {
            fprintf(stderr, "lathe: %s: not found\n", names[i]);
            status = 1;
            continue;
        }
        const Kind *kind = kind_of(path);
        bool new = true;
        for (int k = 0; k < kinds; k++)
            new &= done[k] != kind;
        if (!new)
            continue;
        done[kinds++] = kind;
        int became = compile_kind(s, kind, server, cache, names, count);
        status = became ? became : status;
    }
    return status;
}

int command_compile(int argc, char **argv) {
    CompileSettings s = {.opt = OPT_FULL, .sysroot = getenv("LATHE_SYSROOT")};
    char server[PATH_SIZE], cache[PATH_SIZE];
    ParseResult parsed = options_environment(&options, &s);
    parsed = parsed == PARSE_OK ? options_parse(&options, &argc, argv, &s) : parsed;
    if (parsed != PARSE_OK)
        return parsed == PARSE_HELP ? 0 : 2;
    if (argc < 1)
        return options_misuse(&options, "which program?");
    if (s.jobs > JOBS_MAX)
        return options_misuse(&options, "-j: at most %d", JOBS_MAX);
    if (!programs_find("lathe-server", server, sizeof(server)) || !programs_cache_dir(s.cache, cache, sizeof(cache)))
        return 1;
    if (!*cache)
        return options_misuse(&options, "there is no cache to keep anything in");
    if (!check_cache(cache))
        return 1;
    return compile_all(&s, server, cache, argv + 1, argc);
}
