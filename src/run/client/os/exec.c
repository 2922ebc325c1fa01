/* exec.c: exec: starts a client for files that a client can run: this one, or the one for another kind of guest. All other files, and errors, are
 * left to the kernel. */
#include "run/client/code/image.h"
#include "run/client/code/translated.h"
#include "run/client/core/debug.h"
#include "run/client/memory/contained.h"
#include "run/client/memory/limits.h"
#include "run/client/memory/own.h"
#include "run/client/memory/program.h"
#include "run/client/memory/space.h"
#include "run/client/os/process.h"
#include "run/client/os/seccomp.h"
#include "run/client/os/signal/signal.h"
#include "run/client/tool/tool.h"

enum { OPTIONS_BYTES = 4096, ARGS_MAX = 1 << 20 };
enum { MODE_SETUID = 04000, MODE_SETGID = 02000, MODE_GROUP_EXECUTE = 010 };

/* Asks for the effective user, as exec does. Old kernels can only ask for the real one. */
static bool may_execute(const char *path) {
    enum { EXECUTE = 1 };
    i64 error = sys4(__NR_faccessat2, (u64)(i64)AT_FDCWD, (u64)path, EXECUTE, AT_EACCESS);
    return !(error == -ENOSYS ? sys_access(path, EXECUTE) : error);
}

/* True if exec of the file changes the user or the group of this process. */
static bool changes_user(const struct stat *st) {
    bool other_user = (st->st_mode & MODE_SETUID) && (i64)st->st_uid != sys0(__NR_geteuid);
    u32 sets_group = MODE_SETGID | MODE_GROUP_EXECUTE;
    return other_user || ((st->st_mode & sets_group) == sets_group && (i64)st->st_gid != sys0(__NR_getegid));
}

/* Reads the first bytes of a file, if the kernel would let this process run it, and as this user and group unless any_user is set. Returns their number, or
 * -1. */
static i64 read_head(const char *path, bool any_user, u8 head[SCRIPT_LINE]) {
    struct stat st;
    if (!may_execute(path))
        return -1;
    i64 fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0), n = -1;
    if (fd < 0)
        return -1;
    if (!sys_fstat((int)fd, &st) && S_ISREG(st.st_mode) && (any_user || !changes_user(&st)))
        n = sys_pread((int)fd, head, SCRIPT_LINE, 0);
    sys_close((int)fd);
    return n;
}

/* The machine of an ELF file that the client for it will be able to start; EM_NONE for any other file. Puts that client into the options. */
static u16 guest_machine(const char *path, const u8 *head, i64 size, Options *o) {
    Elf64_Ehdr e;
    char message[1];
    if (size < (i64)sizeof(e))
        return EM_NONE;
    memcpy(&e, head, sizeof(e));
    if (memcmp(e.e_ident, ELFMAG, SELFMAG) || !kind_choose(e.e_machine, o))
        return EM_NONE;
    i64 fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    Program *p = fd < 0 ? NULL : sys_pages(sizeof(Program));
    bool ok = p && !program_read(p, (int)fd, e.e_machine, o->sysroot, &(Failure){message, sizeof(message)});
    if (ok)
        program_close(p);
    if (p)
        sys_pages_free(p, sizeof(Program));
    if (fd >= 0)
        sys_close((int)fd);
    return ok ? e.e_machine : EM_NONE;
}

/* The same for the program behind a path: the file itself or, if it is a script, its interpreter. */
static u16 machine_behind(const char *path, bool any_user, Options *o) {
    char head[SCRIPT_LINE + 1], inside[INTERP_MAX], *interpreter, *arg;
    char name[SCRIPT_LINE];
    for (u32 scripts = 0; scripts <= SCRIPTS_MAX; scripts++) {
        memset(head, 0, sizeof(head));
        i64 n = read_head(path, any_user, (u8 *)head);
        if (n < 2)
            return EM_NONE;
        if (memcmp(head, "#!", 2))
            return guest_machine(path, (u8 *)head, n, o);
        if (!script_split(head, &interpreter, &arg))
            return EM_NONE;
        format_text(name, sizeof(name), "%s", interpreter);
        path = sysroot_find(o->sysroot, name, inside);
    }
    return EM_NONE;
}

/* A client that is in one file with programs runs these, and programs of its own kind that the kernel cannot run. All others are left to the kernel. */
static bool runs_contained(const char *path, Options *o) {
    return contained_has_path(path) || (!guest_facts.is_hosts && machine_behind(path, false, o) == guest_facts.machine);
}

/* Files for which the answer is false are left to the kernel, which can run them or gives the right error. */
bool process_runs_here(const char *path, Options *o) {
    if (contained_exists())
        return runs_contained(path, o);
    return machine_behind(path, false, o) != EM_NONE;
}

/* Returns the number of strings in a list, or a negative errno. */
static i64 count_strings(u64 list) {
    u64 chunk[64];
    for (i64 n = 0; list;) {
        size_t got = guest_read(list + (u64)n * 8, chunk, sizeof(chunk)) / 8;
        if (!got)
            return -EFAULT;
        for (size_t i = 0; i < got; i++, n++)
            if (!chunk[i])
                return n;
    }
    return 0;
}

/* execve with one more variable, key and password of the shared cache. The lists are on the stack because memory that a
 * vfork child allocates would never be freed in its parent. */
static i64 exec_with_secret(Thread *t, const char *client, const char **argv, char **envp) {
    i64 count = count_strings((u64)envp);
    if (count < 0 || count > ARGS_MAX)
        return count < 0 ? count : -E2BIG;
    char variable[sizeof(SHARED_SECRET) + sizeof(((SharedMessage *)0)->password) + sizeof(((SharedMessage *)0)->key)],
        *list[count + 2];
    format_text(variable, sizeof(variable), "%s=%s", SHARED_SECRET, the.server.secret);
    if (count)
        memcpy(list, envp, (size_t)count * sizeof(char *));
    list[count] = variable;
    list[count + 1] = NULL;
    u64 args[6] = {(u64)client, (u64)argv, (u64)list};
    return syscall_guarded(&t->pending_signals, __NR_execve, args);
}

/* lathe-client OPTIONS PATH ARGV0 ARGS… */
static i64 exec_client(Thread *t, const Options *o, const char *path, char **argv, char **envp) {
    enum { BEFORE = 3 };
    char options[OPTIONS_BYTES];
    i64 argc = count_strings((u64)argv);
    if (argc < 0)
        return argc;
    if (argc > ARGS_MAX || !options_format(o, options, sizeof(options)))
        return -E2BIG;
    const char *room[argc + BEFORE + 3], **list = room + 1;
    list[0] = contained_exists() ? CONTAINED_AS_CLIENT : o->client_path;
    list[1] = options;
    list[2] = path;
    list[BEFORE] = ""; /* the kernel, too, gives a program without argv[0] an empty one */
    memcpy(list + BEFORE, argv, (size_t)argc * sizeof(char *));
    list[BEFORE + (argc ? argc : 1)] = NULL;
    const char *program = client_command(o, &list);
    if (the.server.secret)
        return exec_with_secret(t, program, list, envp);
    u64 args[6] = {(u64)program, (u64)list, (u64)envp};
    return syscall_guarded(&t->pending_signals, __NR_execve, args);
}

/* Hands the descriptors of the keeper and of the guest's filters on to the new client, if there are any. */
static i64 exec_with_descriptors(Thread *t, Options *o, const char *path, char **argv, char **envp) {
    i64 filters = seccomp_hand_on(t);
    if (filters < 0)
        return filters;
    o->filters = filters ? (u32)filters + 1 : 0;
    o->limits = limits_to_hand_on(t->memory.limits);
    o->keeper = translated_hand_on(t, true);
    o->debugger = thread_is_of_process(t) ? the.opt.debugger : 0;
    debug_hand_on(o->debugger);
    i64 error = exec_client(t, o, path, argv, envp);
    debug_hand_on(false);
    translated_hand_on(t, false);
    if (filters)
        sys_close((int)filters);
    return error;
}

/* Runs a program without a client. possible: the kernel would let this process run such a file; then the kernel gets the guest's limits, because the
 * new program has nobody else to apply them. Hard limits cannot be raised again, so they are set only if the file is whole and will run: exec is
 * often tried in vain (for each directory of PATH, for a script without a #! line, for a damaged file), and this client would be left with limits
 * that are too low for it. */
static i64 exec_on_host(Thread *t, bool possible, const char *path, char **argv, char **envp) {
    Options found = the.opt;
    u64 args[6] = {(u64)path, (u64)argv, (u64)envp};
    i64 error = possible ? seccomp_leave_to_host(t) : 0;
    if (error)
        return error;
    if (possible)
        limits_leave_to_host(t->memory.limits, machine_behind(path, true, &found) == kind_host_machine());
    error = syscall_guarded(&t->pending_signals, __NR_execve, args);
    if (possible)
        limits_take_back();
    return error;
}

static i64 exec(Thread *t, const char *path, char **argv, char **envp) {
    Options options = the.opt;
    options.by_guest = true;
    bool here = !the.opt.no_follow && process_runs_here(path, &options), possible = here || may_execute(path);
    if (possible)
        image_save(t);
    if (possible)
        tool_end(t);
    if (here)
        return exec_with_descriptors(t, &options, path, argv, envp);
    return exec_on_host(t, possible, path, argv, envp);
}

i64 process_exec(Thread *t, const char *path, char **argv, char **envp) {
    if (!t->process.borrows_memory)
        translated_before_exec();
    signal_before_exec(t);
    i64 error = exec(t, path, argv, envp);
    tool_not_ended(t);
    signal_after_exec(t);
    return error;
}
