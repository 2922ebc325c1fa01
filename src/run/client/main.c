/* main.c: the client's start: reads the options, reserves memory, loads the guest's program, and runs its first thread. Started by lathe run as
 *
 *     lathe-client OPTIONS PATH ARGV0 ARGS…
 *
 * docs/client.md tells how the client works. */
#include "run/client/code/image.h"
#include "run/client/code/server/spawn.h"
#include "run/client/code/tier.h"
#include "run/client/code/translated.h"
#include "run/client/contained_start.h"
#include "run/client/core/debug.h"
#include "run/client/core/frame.h"
#include "run/client/memory/contained.h"
#include "run/client/memory/limits.h"
#include "run/client/memory/load.h"
#include "run/client/memory/own.h"
#include "run/client/memory/program.h"
#include "run/client/memory/space.h"
#include "run/client/os/process.h"
#include "run/client/os/seccomp.h"
#include "run/client/os/signal/signal.h"
#include "run/client/tool/tool.h"

Process the;

/* lathe run chooses the client by the ELF header of the program. If the program is a script instead, its #! line may name an interpreter for another
 * kind of machine: then starts the client for that kind in this one's place. Returns if this client is the right one. */
static void leave_to_other_kind(char **argv, char **envp) {
    enum { OPTIONS = 1, PATH = 2, OPTIONS_BYTES = 4096 };
    Options o = the.opt;
    o.limits = limits_to_hand_on(&the.memory.limits);
    char text[OPTIONS_BYTES];
    size_t count = 0;
    if (!process_runs_here(argv[PATH], &o) || !strcmp(o.client_path, the.opt.client_path))
        return;
    if (*the.opt.sysroot)
        memcpy(o.sysroot, the.opt.sysroot, sizeof(o.sysroot));
    o.keeper = keeper_hand_on(NULL, true);
    if (!options_format(&o, text, sizeof(text)))
        die("the options are too long to start %s", o.client_path);
    argv[0] = o.client_path, argv[OPTIONS] = text;
    while (argv[count])
        count++;
    const char *room[count + 2], **list = room + 1;
    memcpy(list, argv, (count + 1) * sizeof(*list));
    const char *program = client_command(&o, &list);
    die("%s: cannot be started: %s", o.client_path, sys_error_text(sys_execve(program, (char **)list, envp)).text);
}

static void note_linker(const LoadedImage *image) {
    const Module *m = image->interp_base ? space_module(image->start) : NULL;
    if (m)
        contained_note_linker(m->base, m->end);
}

static void start_program(const char *path, char **argv, char **envp) {
    LoadedImage image;
    char message[2 * LOAD_REASON_BYTES];
    int error = load_program(path, argv, &image, message, sizeof(message));
    if (error < 0 || (error && !the.opt.by_guest))
        say("%s: %s", path, message);
    if (error < 0)
        sys_exit_group(error == -ENOENT ? 127 : 126);
    if (error)
        signal_die(error);
    Thread *t = thread_new(limits_scaled(HOST_STACK_BYTES));
    if (!t || !frame_prepare())
        die("no memory for the program's first thread");
    if (the.opt.filters && !seccomp_take_over(t, (int)the.opt.filters - 1))
        die("the filters of system calls that exec has handed on cannot be read");
    the.opt.filters = 0;
    guest_set_sp(&t->cpu, stack_build(&image, argv, envp, path));
    t->cpu.pc = image.start;
    note_linker(&image);
    translated_fix();
    thread_become(t);
    image_load(t, path);
    signal_init(t);
    tier_begin(t);
    tool_start(argv);
    debug_begin(t);
    translated_run_anew(t);
}

/* Copies the list, with room for the words that #! lines add. */
static char **copy_argv(int argc, char **argv) {
    char **copy =
        sys_pages(sizeof(char *) * ((u64)argc + LOAD_ARGV_ROOM + 2)); /* argv[0] may be missing; a zero ends it */
    for (int i = 0; i < argc; i++)
        copy[i] = argv[i];
    return copy;
}

/* Takes a variable out of the environment. Returns its value, or NULL if there is no such variable. */
static const char *take_variable(char **envp, const char *name) {
    size_t len = strlen(name);
    while (*envp && (strncmp(*envp, name, len) || (*envp)[len] != '='))
        envp++;
    if (!*envp)
        return NULL;
    const char *value = *envp + len + 1;
    for (; *envp; envp++)
        envp[0] = envp[1];
    return value;
}

/* Opens what this client prints about the program: statistics, a tool's text. Returns the descriptor. */
static int open_log(void) {
    enum { FLAGS = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, MODE = 0666 };
    i64 fd = *the.opt.log ? sys_open(the.opt.log, FLAGS, MODE) : 2, away = fd < 0 ? fd : limits_dup_away((int)fd);
    if (fd < 0 && !the.opt.by_guest) /* a program that the guest has become may not see the file any more */
        die("%s: cannot be written: %s", the.opt.log, sys_error_text(fd).text);
    if (away >= 0 && fd > 2)
        sys_close((int)fd);
    if (fd < 0)
        return 2;
    return away < 0 ? (int)fd : (int)away;
}

/* lathe-client OPTIONS PATH ARGV0 ARGS…, or a program that is in one file with the client. */
static Start read_arguments(int argc, char **argv, char **envp) {
    enum { OPTIONS = 1, PATH = 2, ARGV0 = 3 };
    Start start;
    if (contained_begin(argc, argv, &start))
        return start;
    if (!contained_exists() && keeper_is_meant(argc, argv))
        keeper_main(argv, envp);
    if (argc <= ARGV0 || !options_parse(argv[OPTIONS], &the.opt))
        die("lathe-client is not started by hand: lathe run PROGRAM starts it");
    return (Start){argv[PATH], argc - ARGV0, argv + ARGV0};
}

/* A program that is in one file with this client has its translated code there, too, so it needs no directory of the cache. It has no server, so it
 * needs quick code. */
static void adapt_to_contained(void) {
    if (!contained_exists())
        return;
    the.opt.no_cache = false;
    if (the.opt.tier == TIER_OPT)
        die("this processor lacks instructions that the translator in this file needs");
}

int client_main(int argc, char **argv, char **envp, u64 *auxv) {
    the.auxv = auxv;
    Start start = read_arguments(argc, argv, envp);
    tool_identify();
    tier_choose(&the.opt);
    adapt_to_contained();
    the.start_us = sys_now_us();
    the.envp = envp;
    keeper_begin(the.opt.keeper);
    the.opt.keeper = 0;
    bool prints = the.opt.stats || *the.opt.shared || *the.opt.tool || *the.opt.plugin || *the.opt.log;
    the.stats_fd = prints ? open_log() : 2;
    bool low = translated_has_map() && the.opt.tier != TIER_OPT && program_fits_low(start.path);
    if (!space_init(image_window_hint(start.path), low) || !translated_init())
        die("not enough address space for the program and its translated code");
    contained_settle();
    if (!contained_starts())
        leave_to_other_kind(argv, envp);
    tool_load();
    tier_watch();
    the.server.secret = take_variable(envp, SHARED_SECRET);
    vdso_adopt();
    start_program(start.path, copy_argv(start.argc, start.argv), envp);
    return 0;
}
