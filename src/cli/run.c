/* run.c: `lathe run`: finds the program and executes the client that runs it, with all options as one word. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/pack.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/start/daemon.h"
#include "cli/start/debugger.h"
#include "cli/start/plugin_file.h"
#include "cli/start/programs.h"
#include "cli/start/shared.h"
#include "cli/start/tool_files.h"
#include "isa/kinds.h"
#include "lathe/lift.h"
#include "tool/package.h"

enum { OPT_QUICK, OPT_FULL };
enum { TIER_AUTO, TIER_QUICK, TIER_OPT };
enum { STATS_TEXT, STATS_JSON, STATS_OFF };
enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };
enum { AFTER_S = 10, AFTER_MOST_S = 3600 }; /* of --compile-after */
enum { PATH_SIZE = 256 };                   /* in the client's options */

typedef struct RunSettings {
    const char *arg0, *sysroot, *cache, *cache_key, *dump, *server, *log, *plugin, *host;
    OptionList set, unset, tools;
    int tier, cpu, opt, stats, no_tool_opt;
    u64 sample_us, hot_ms, after_s;
    const char *debug_at;
    bool strace, no_follow, perf, strict_fp, explain, gdb;
} RunSettings;

#define AT(field) offsetof(RunSettings, field)

static const char cpu_choices[] = "auto"
#define CPU(id, name) "|" name
#include "isa/cpus.def"
#undef CPU
                                  "|native";

// clang-format off
static const Option table[] = {
    {NULL, NULL, "The program's surroundings:", OPTION_HEADING, 0},
    {"0",         "ARG0",       "its argv[0], if not PROG",                      OPTION_TEXT,   AT(arg0)},
    {"E",         "VAR=VALUE",  "set a variable of its environment",             OPTION_LIST,   AT(set)},
    {"U",         "VAR",        "remove a variable from it",                     OPTION_LIST,   AT(unset)},
    {"L",         "DIR",        "look for its interpreter and files in DIR first", OPTION_TEXT,   AT(sysroot)},
    {"no-follow", NULL,         "programs that it starts run untranslated",      OPTION_FLAG,   AT(no_follow)},
    {NULL, NULL, "How to translate:", OPTION_HEADING, 0},
    {"tier",      "auto|quick|opt", "copied code, optimised code, or both (auto)",  OPTION_CHOICE, AT(tier)},
    {"cpu",       cpu_choices,   "the processor it sees (auto: what runs fast)", OPTION_CHOICE, AT(cpu)},
    {"opt",       "quick|full", "how far to optimise (full)",                    OPTION_CHOICE, AT(opt)},
    {"strict-fp", NULL,         "exact NaNs, rounding, exception flags",         OPTION_FLAG,   AT(strict_fp)},
    {"cache",     "WHERE",      "DIR, none, [DIR,]redis://HOST (~/.cache/lathe)", OPTION_TEXT,  AT(cache)},
    {"cache-key", "FILE",       "has the key that entries of a shared cache are signed with", OPTION_TEXT, AT(cache_key)},
    {"sample-every", "US",      "look for hot code by real time; for tests",     OPTION_NUMBER, AT(sample_us)},
    {"compile-after", "S",      "seconds for compiling after the run; 0: none (10)", OPTION_NUMBER, AT(after_s)},
    {"hot-after", "MS",         "code is hot after this time, whatever it costs; for tests", OPTION_NUMBER, AT(hot_ms)},
    {"server",    "WHERE",      "auto, start, none, a socket, ssh:HOST (auto)",  OPTION_TEXT,   AT(server)},
    {"host",      "NAME",       "on a machine of that kind, which qemu-NAME emulates", OPTION_TEXT, AT(host)},
    {"plugin",    "FILE.so[,OPTIONS]", "change its lifted code by this plugin; implies --tier=opt", OPTION_TEXT, AT(plugin)},
    {NULL, NULL, "What to tell about it:", OPTION_HEADING, 0},
    {"tool",      "NAME|FILE.c[,KEY=VALUE]...", "watch it by this tool; may be given several times", OPTION_LIST, AT(tools)},
    {"no-tool-opt", "all|counter|merge|inline|split|keep", "leave out what makes its functions cheap: to see what that gains", OPTION_MAYBE, AT(no_tool_opt)},
    {"explain",   NULL,         "what became of its functions, when the program ends", OPTION_FLAG, AT(explain)},
    {"log",       "FILE",       "add what it and tools print to FILE, not to standard error", OPTION_TEXT, AT(log)},
    {"stats",     "text|json",  "counts and times, when the program ends",       OPTION_MAYBE,  AT(stats)},
    {"strace",    NULL,         "its system calls",                              OPTION_FLAG,   AT(strace)},
    {"dump",      "lift,opt,obj", "files: IR as lifted, optimised, the objects", OPTION_TEXT,   AT(dump)},
    {"g",         "PORT|SOCKET", "wait for gdb there, and let it debug the program", OPTION_TEXT, AT(debug_at)},
    {"gdb",       NULL,         "start gdb, and let it debug the program",       OPTION_FLAG,   AT(gdb)},
    {"perf",      NULL,         "files: what perf needs to know the code",       OPTION_FLAG,   AT(perf)},
    {0},
};
// clang-format on

static const OptionSet options = {
    .command = "lathe run",
    .usage = "[OPTION]... [--] PROG [ARG]...",
    .about = "Runs a Linux program, translated. Long options can be given by variables too: LATHE_OPT=quick.",
    .table = table,
    .stop_at_operand = true,
};

/* ------------------------------------------------------------------------------------------------------ the program */

static int fail(int status, const char *program, const char *why) {
    fprintf(stderr, "lathe: %s: %s\n", program, why);
    return status;
}

/* Returns 0, or the exit status that a shell would give. */
static int check_program(const char *path) {
    struct stat st;
    if (stat(path, &st))
        return errno == ENOENT || errno == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
    return S_ISREG(st.st_mode) && eaccess(path, X_OK) == 0 ? 0 : STATUS_NOT_EXECUTABLE;
}

static bool is_directory(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Finds the first executable file of that name in the directories of PATH. An empty directory name means the current
 * one. */
static int search_path(const char *name, char *found, size_t size) {
    const char *dirs = getenv("PATH");
    int status = STATUS_NOT_FOUND;
    for (const char *dir = dirs ? dirs : "/usr/local/bin:/usr/bin:/bin";;) {
        int width = (int)strcspn(dir, ":"),
            len = snprintf(found, size, "%.*s%s%s", width, dir, width ? "/" : "./", name);
        int here = len < (int)size ? check_program(found) : STATUS_NOT_FOUND;
        if (here == 0)
            return 0;
        status = here == STATUS_NOT_EXECUTABLE ? here : status;
        if (!dir[width])
            return status;
        dir += width + 1;
    }
}

/* Prints a message if the status is not 0. */
static int find_program(const char *name, char *found, size_t size) {
    int status = STATUS_NOT_FOUND;
    if (!strchr(name, '/'))
        status = *name ? search_path(name, found, size) : status;
    else if (snprintf(found, size, "%s", name) < (int)size)
        status = check_program(found);
    if (status == STATUS_NOT_FOUND)
        return fail(status, name, "not found");
    return status ? fail(status, name, is_directory(found) ? "is a directory" : "not executable") : 0;
}

/* Returns the first text that is not an assignment for the environment, or NULL. */
static const char *misnamed(const RunSettings *s) {
    for (size_t i = 0; i < s->set.len; i++)
        if (strcspn(s->set.at[i], "=") == 0 || !strchr(s->set.at[i], '='))
            return s->set.at[i];
    return NULL;
}

static void change_environment(const RunSettings *s) {
    for (size_t i = 0; i < s->unset.len; i++)
        unsetenv(s->unset.at[i]);
    for (size_t i = 0; i < s->set.len; i++)
        putenv((char *)s->set.at[i]);
}

/* --------------------------------------------------------------------------------------- the options for the client */

/* Prints a value; characters that would end the value or the line are written as %XX. */
static void print_value(FILE *out, const char *key, const char *value) {
    fprintf(out, ",%s=", key);
    for (; *value; value++)
        fprintf(out, (u8)*value < 0x20 || strchr(",%\x7f", *value) ? "%%%02x" : "%c", (u8)*value);
}

/* Returns the bits of --dump, or -1. */
static int dump_bits(const char *text) {
    static const char *const names[] = {"lift", "opt", "obj"};
    int bits = 0;
    while (text && *text) {
        size_t width = strcspn(text, ","), i = 0;
        while (i < ARRAY_LEN(names) && (strlen(names[i]) != width || strncmp(names[i], text, width)))
            i++;
        if (i == ARRAY_LEN(names))
            return -1;
        bits |= 1 << i;
        text += width + (text[width] == ',');
    }
    return bits;
}

typedef struct Paths {
    char client[PATH_SIZE], emulator[PATH_SIZE], server[PATH_SIZE], cache[PATH_SIZE], shared[PATH_SIZE],
        sysroot[PATH_SIZE], tool[PATH_SIZE], log[PATH_SIZE];
    char tool_options[TOOL_OPTIONS_SIZE], tools[PATH_SIZE];
    int debugger; /* the descriptor of its connection; 0: there is none */
    PluginFile plugin;
    Daemon daemon; /* its socket is empty if no daemon is used */
} Paths;

/* ----------------------------------------------------------------------------------------------------- the kind of guest */

/* The program that runs clients for another host. Returns false after a message. */
static bool find_emulator(const char *host, Paths *p) {
    char name[64];
    snprintf(name, sizeof(name), "qemu-%s", host);
    return !find_program(name, p->emulator, PATH_SIZE);
}

/* Each kind of guest has a client. That of this machine's kind also runs scripts, and says what is wrong with other files. Clients for other hosts are named after their
 * guests. */
static bool find_client(const char *program, const char *host, Paths *p) {
    char file[128] = "lathe-client";
    const Kind *kind = kind_of_file(program);
    if (host)
        snprintf(file, sizeof(file), "host/%s/lathe-client-%s", host, (kind ? kind : kind_of_host())->folder);
    else if (kind && kind != kind_of_host())
        snprintf(file, sizeof(file), "lathe-client-%s", kind->folder);
    if (kind && !*p->sysroot)
        kind_sysroot(kind, p->sysroot, PATH_SIZE);
    return programs_find(file, p->client, PATH_SIZE) && (!host || find_emulator(host, p));
}

/* ------------------------------------------------------------------------------------------------- the server to be asked */

static const char *ssh_host(const char *server) {
    return server && !strncmp(server, "ssh:", 4) ? server + 4 : NULL;
}

static bool is_one_of(const char *word, const char *a, const char *b) {
    return !strcmp(word, a) || !strcmp(word, b);
}

static bool is_server(const char *server) {
    const char *host = ssh_host(server);
    if (host)
        return daemon_is_host(host);
    return is_one_of(server, "auto", "start") || is_one_of(server, "none", "") || strchr(server, '/');
}

/* If the server cannot be used, the program runs all the same: the client starts a server itself. */
static void warn_server(const char *server, const char *why) {
    fprintf(stderr, "lathe: %s: %s; a server is started here\n", server, why);
}

static void use_socket(Daemon *d, const char *path) {
    struct stat st;
    char absolute[PATH_MAX];
    *d->socket = 0;
    if (!programs_absolute(path, absolute, sizeof(absolute)) || strlen(absolute) >= sizeof(d->socket))
        warn_server(path, "the path is too long");
    else if (stat(absolute, &st) || !S_ISSOCK(st.st_mode))
        warn_server(path, "no server there");
    else
        strcpy(d->socket, absolute);
}

/* With --dump no daemon is used, because the files are written to the working directory of the server, which has to be
 * the program's. */
static void choose_server(const RunSettings *s, const char *program, const PluginFile *plugin, Daemon *d) {
    const char *server = s->server ? s->server : "auto", *host = ssh_host(server);
    bool start = (host || !strcmp(server, "start")) && !s->dump, at_path = !host && strchr(server, '/');
    const char *why = daemon_locate(d, program, host, plugin, start);
    if (start && !why && !daemon_process(d) && !daemon_start(d, true) && !daemon_process(d))
        why = "no server there";
    if (s->dump || is_one_of(server, "none", "") || (why && !at_path))
        *d->socket = 0;
    else if (at_path)
        use_socket(d, server);
    if (start && why)
        warn_server(d->dir, why);
}

/* ------------------------------------------------------------------------------------------------------- the whole word */

/* Finds the tools' package, and what the client has to know of them. Returns false after a message. */
static bool find_tools(const RunSettings *s, Paths *p) {
    *p->tool = *p->tool_options = *p->tools = 0;
    return !s->tools.len ||
           (tool_packages(s->tools.at, (u32)s->tools.len, p->cache, p->tool, PATH_SIZE, p->tool_options) &&
            programs_find("lathe-tools", p->tools, PATH_SIZE));
}

/* Returns false after a message. */
static bool find_paths(const RunSettings *s, Paths *p) {
    struct stat st;
    *p->sysroot = *p->log = *p->emulator = 0;
    if (s->log && !programs_absolute(s->log, p->log, PATH_SIZE))
        return !fail(1, s->log, "the path is too long");
    if (s->sysroot && (stat(s->sysroot, &st) || !S_ISDIR(st.st_mode)))
        return !fail(1, s->sysroot, "not a directory");
    if (s->sysroot && !programs_absolute(s->sysroot, p->sysroot, PATH_SIZE))
        return !fail(1, s->sysroot, "the path is too long");
    if (!programs_find("lathe-server", p->server, PATH_SIZE) || !programs_cache_dir(s->cache, p->cache, PATH_SIZE))
        return false;
    programs_cache_check(p->cache);
    return shared_prepare(s->cache, s->cache_key, p->shared, PATH_SIZE) && find_tools(s, p) &&
           plugin_find(s->plugin, &p->plugin);
}

static u64 limit_mib(void) {
    u64 mib = pack_limit() >> 20;
    return mib < UINT32_MAX ? mib : UINT32_MAX;
}

/* Writes the options in the form that run/client/core/options.c reads. */
static char *format_options(const RunSettings *s, const Paths *p) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CHECK(out, "out of memory");
    fprintf(out,
            "tier=%d,cpu=%d,opt=%d,strict=%d,strace=%d,follow=%d,perf=%d,tool-without=%d,explain=%d,stats=%d,dump=%d,"
            "limit=%llu,"
            "sample=%u,hot=%u,"
            "after=%u,debugger=%d",
            *p->plugin.word ? TIER_OPT : s->tier, s->cpu, s->opt == OPT_QUICK ? LATHE_OPT_QUICK : LATHE_OPT_FULL,
            s->strict_fp, s->strace, !s->no_follow, s->perf, s->no_tool_opt + 1, s->explain,
            s->stats == STATS_OFF ? 0 : s->stats + 1, dump_bits(s->dump), (unsigned long long)limit_mib(),
            (u32)s->sample_us, (u32)s->hot_ms, (u32)s->after_s, p->debugger);
    print_value(out, "build", p->daemon.build);
    print_value(out, "cache", p->cache);
    print_value(out, "shared", p->shared);
    print_value(out, "server", p->server);
    print_value(out, "socket", p->daemon.socket);
    print_value(out, "client", p->client);
    print_value(out, "emulator", p->emulator);
    print_value(out, "sysroot", p->sysroot);
    print_value(out, "tool", p->tool);
    print_value(out, "tool-options", p->tool_options);
    print_value(out, "tools", p->tools);
    print_value(out, "log", p->log);
    print_value(out, "plugin", p->plugin.word);
    fprintf(out, ",plugin-id=%llu", (unsigned long long)p->plugin.identity);
    CHECK(fclose(out) == 0, "out of memory");
    return text;
}

/* Executes the client. Returns only if that fails. */
static int start_client(const Paths *p, char *words, char *path, const char *arg0, char **args, int count) {
    char **argv = mem_new(sizeof(char *) * ((size_t)count + 6)), **client = argv + 1;
    bool emulated = *p->emulator;
    argv[0] = (char *)p->emulator;
    client[0] = emulated ? (char *)p->client : "lathe-client";
    client[1] = words;
    client[2] = path;
    client[3] = (char *)arg0;
    memcpy(client + 4, args, sizeof(char *) * (size_t)count);
    execv(emulated ? p->emulator : p->client, emulated ? argv : client);
    return fail(1, emulated ? p->emulator : p->client, strerror(errno));
}

/* When everything else is known to be right. Returns false after a message. */
static bool connect_debugger(const RunSettings *s, Paths *p) {
    p->debugger = s->gdb ? debugger_start() : s->debug_at ? debugger_await(s->debug_at) : 0;
    return p->debugger >= 0;
}

/* `only`: the kind that the program must be of; NULL: any. */
static int run(const RunSettings *s, const Kind *only, char **argv, int argc) {
    Paths paths;
    char program[PATH_MAX];
    if (!find_paths(s, &paths))
        return 1;
    if (ssh_host(s->server) && *paths.shared)
        return options_misuse(&options, "--server=ssh:%s: not together with a shared cache", ssh_host(s->server));
    choose_server(s, paths.server, &paths.plugin, &paths.daemon);
    change_environment(s);
    int status = find_program(argv[0], program, sizeof(program));
    if (status)
        return status;
    if (only && kind_of_file(program) != only)
        return fail(STATUS_NOT_EXECUTABLE, argv[0], "a program of another kind than the name it was started by says");
    if (!find_client(program, s->host, &paths))
        return 1;
    if (!connect_debugger(s, &paths))
        return 1;
    return start_client(&paths, format_options(s, &paths), program, s->arg0 ? s->arg0 : argv[0], argv + 1, argc);
}

static int misuse(const RunSettings *s) {
    const char *bare = misnamed(s);
    if (dump_bits(s->dump) < 0)
        return options_misuse(&options, "--dump: '%s' is no list of lift, opt and obj", s->dump);
    if (bare)
        return options_misuse(&options, "-E: '%s' has no value", bare);
    if (s->after_s > AFTER_MOST_S)
        return options_misuse(&options, "--compile-after: at most %d", AFTER_MOST_S);
    if (s->sample_us > UINT32_MAX)
        return options_misuse(&options, "--sample-every: at most %u", UINT32_MAX);
    if (s->hot_ms > UINT32_MAX)
        return options_misuse(&options, "--hot-after: at most %u", UINT32_MAX);
    if ((s->gdb || s->debug_at) && (s->tier == TIER_OPT || (s->plugin && *s->plugin)))
        return options_misuse(&options,
                              "-g, --gdb: not together with --tier=opt or --plugin: a debugger sees quick code");
    if (s->explain && !s->tools.len)
        return options_misuse(&options, "--explain: it is about tools, and there is no --tool");
    if (s->server && !is_server(s->server))
        return options_misuse(&options, "--server: '%s' is not auto, start, none, a path or ssh:HOST", s->server);
    if (s->plugin && *s->plugin && s->tier == TIER_QUICK)
        return options_misuse(&options, "--plugin: not together with --tier=quick, which lifts nothing");
    if (s->plugin && *s->plugin && ssh_host(s->server))
        return options_misuse(&options, "--plugin: not together with --server=ssh:%s", ssh_host(s->server));
    return 0;
}

/* Those of the command line take the place of the one that a variable names. */
static void choose_tools(RunSettings *s, size_t by_variable) {
    if (s->tools.len == by_variable)
        return;
    s->tools.len -= by_variable;
    memmove(s->tools.at, s->tools.at + by_variable, s->tools.len * sizeof(*s->tools.at));
}

static RunSettings usual_settings(void) {
    return (RunSettings){
        .opt = OPT_FULL, .stats = STATS_OFF, .no_tool_opt = -1, .after_s = AFTER_S, .sysroot = getenv("LATHE_SYSROOT")};
}

int command_run_kind(const Kind *only, int argc, char **argv) {
    RunSettings s = usual_settings();
    ParseResult parsed = options_environment(&options, &s);
    size_t by_variable = s.tools.len;
    parsed = parsed == PARSE_OK ? options_parse(&options, &argc, argv, &s) : parsed;
    if (parsed != PARSE_OK)
        return parsed == PARSE_HELP ? 0 : 2;
    if (argc < 1)
        return options_misuse(&options, "which program?");
    choose_tools(&s, by_variable);
    int status = misuse(&s);
    return status ? status : run(&s, only, argv + 1, argc - 1);
}

int command_run(int argc, char **argv) {
    return command_run_kind(NULL, argc, argv);
}

int command_run_registered(const Kind *only, int argc, char **argv) {
    enum { FILE_AT = 1, ARG0_AT = 2 };
    RunSettings s = usual_settings();
    if (argc <= ARG0_AT)
        return options_misuse(&options, "which program?");
    s.arg0 = argv[ARG0_AT];
    argv[ARG0_AT] = argv[FILE_AT];
    if (options_environment(&options, &s) != PARSE_OK || misuse(&s))
        return 2;
    return run(&s, only, argv + ARG0_AT, argc - ARG0_AT - 1);
}
