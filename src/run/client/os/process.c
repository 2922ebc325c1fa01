/* process.c: fork, vfork, exec, exit.
 *
 * fork is the host's: memory, code and this very stack are copied. A child that shares memory with its parent until it calls exec
 * (vfork, posix_spawn) cannot use the parent's stack, which holds the parent's frames. These frames have no guest state, so the child
 * starts the dispatcher on a stack of its own. The parent sleeps meanwhile, so both can use the same code table and the same connection.
 *
 * exec starts a client for files that a client can run: this one, or the one for another kind of guest. All other files, and errors, are
 * left to the kernel.
 */
#include <linux/sched.h>

#include "host_context.h"
#include "run/client/code/after.h"
#include "run/client/code/image.h"
#include "run/client/code/tier.h"
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

i64 clone_on_stack(u64 flags, u64 stack_top, u64 parent_tid, u64 child_tid, u64 tls, Thread *child);
__attribute__((visibility("hidden"))) _Noreturn void process_child_start(Thread *t);

/* ---------------------------------------------------------------------------------------------------------- fork */

/* Sets the registers in which the child differs from its parent. It gets no thread number here, but in thread_become: until then its Thread must not have its parent's number, or the parent would get the
 * signals that others send to the child. */
static void start_child(Thread *t, u64 stack, bool set_tls, u64 tls) {
    if (stack)
        guest_set_sp(&t->cpu, stack);
    if (set_tls)
        guest_set_tls(&t->cpu, tls);
}

static void after_fork(Thread *t, u64 stack, bool set_tls, u64 tls) {
    t->pid = (u32)sys_getpid();
    t->tid = (u32)sys_gettid();
    start_child(t, stack, set_tls, tls);
    translated_leave_parent(t);
    t->process.borrows_memory = t->process.separate = t->process.own_files = false;
    the.tier.forked = true;
    the.memory.limits = *t->memory.limits;
    t->memory.limits = &the.memory.limits;
    t->next = NULL; /* fork has copied only this thread */
    the.threads = t;
    the.os.ended = NULL;
    translated_after_fork(t);
    tool_after_fork(t);
    signal_after_fork(t);
    debug_after_fork();
    tier_begin(t);
}

/* Makes the call with all locks held, so that no other thread is just changing the arena, the address space or a tool's data. The child does not have that thread, so the change would never be
 * completed there. */
static i64 clone_alone(Thread *t, u64 number, const u64 args[6]) {
    tool_before_fork();
    translated_lock();
    tool_lock();
    space_lock();
    translated_before_fork();
    i64 result = syscall_guarded(&t->pending_signals, number, args);
    space_unlock();
    tool_unlock();
    translated_unlock();
    tool_fork_done();
    return result;
}

/* Called after fork, in both processes. */
static i64 after_clone(Thread *t, i64 result, u64 stack, bool set_tls, u64 tls) {
    if (result == 0)
        after_fork(t, stack, set_tls, tls);
    if (result > 0)
        tool_call(LATHE_FORKED, &(ToolEvent){.pc = t->cpu.pc, .number = (u64)result});
    return result;
}

/* Parent and child share the memory of translated code until one of them adds to it. Whichever does so first, parent or
 * child, makes a copy before, so both must know of the sharing before there are two. */
static i64 fork_process(Thread *t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls) {
    u64 args[6] = {flags, 0, parent_tid, child_tid, tls, 0};
    return after_clone(t, clone_alone(t, __NR_clone, args), stack, flags & CLONE_SETTLS, tls);
}

/* --------------------------------------------------------------------------------------------------------- vfork */

static u64 host_stack_bytes(void) {
    return tier_optimises_threads() ? limits_scaled(HOST_STACK_BYTES) : HOST_STACK_SMALL;
}

static Thread *thread_copy(const Thread *t, u64 flags) {
    Thread *child = thread_new(host_stack_bytes());
    if (!child)
        return NULL;
    child->cpu = t->cpu;
    child->quick.flags = t->quick.flags;
    child->tier.optimised = t->tier.optimised;
    guest_set_result(&child->cpu, 0);
    child->process.borrows_memory = true;
    child->memory.own_limits = *t->memory.limits;
    child->memory.limits = &child->memory.own_limits;
    child->process.own_files = t->process.own_files || !(flags & CLONE_FILES);
    translated_copy_descriptors(child, t);
    seccomp_inherit(child, t);
    if (signal_copy(child, t))
        return child;
    thread_free(child);
    return NULL;
}

void process_child_start(Thread *t) {
    thread_become(t);
    sys_rt_sigprocmask(SIG_SETMASK, &t->signal.mask, NULL);
    if (!t->process.borrows_memory)
        tier_begin(t);
    if (thread_is_of_process(t))
        tool_call(LATHE_THREAD, &(ToolEvent){.pc = t->cpu.pc});
    translated_run(t);
}

static i64 vfork_process(Thread *t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls) {
    Thread *child = thread_copy(t, flags);
    if (!child)
        return -ENOMEM;
    start_child(child, stack, flags & CLONE_SETTLS, tls);
    u64 all = ~(u64)0;
    sys_rt_sigprocmask(SIG_SETMASK, &all, &child->signal.mask);
    u64 mask = child->signal.mask;
    i64 result = SYSCALL_RESTART;
    __atomic_store_n(&t->process.lends_memory, true, __ATOMIC_SEQ_CST);
    if (!t->pending_signals)
        result = clone_on_stack(flags, child->stack.host + child->stack.host_size, parent_tid, child_tid, tls, child);
    __atomic_store_n(&t->process.lends_memory, false, __ATOMIC_SEQ_CST);
    thread_free(child);
    debug_after_vfork(t);
    sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------- threads */

/* A thread on the list of ended threads is gone when the kernel no longer knows it. A separate process that shares our
 * memory is gone when it has ended or called exec. */
static bool is_gone(const Thread *t, bool ended) {
    return ended ? sys_tkill(t->tid, 0) == -ESRCH : !__atomic_load_n(&t->process.lives, __ATOMIC_ACQUIRE);
}

/* With the lock of translated code. */
static void take_gone(Thread **list, bool ended, Thread **gone) {
    while (*list) {
        Thread *t = *list;
        if (!is_gone(t, ended)) {
            list = &t->next;
            continue;
        }
        *list = t->next;
        t->next = *gone;
        *gone = t;
    }
}

static void free_ended(void) {
    Thread *gone = NULL;
    translated_lock();
    take_gone(&the.os.ended, true, &gone);
    take_gone(&the.threads, false, &gone);
    translated_unlock();
    while (gone) {
        Thread *t = gone;
        gone = t->next;
        thread_free(t);
    }
}

static Thread *new_beside(Thread *t, u64 flags) {
    Thread *child = thread_new(host_stack_bytes());
    if (!child)
        return NULL;
    if (!(flags & CLONE_SIGHAND ? signal_share(child, t) : signal_copy(child, t))) {
        thread_free(child);
        return NULL;
    }
    child->cpu = t->cpu;
    child->quick.flags = t->quick.flags;
    child->tier.optimised = t->tier.optimised;
    guest_set_result(&child->cpu, 0);
    child->signal.altstack = child->signal.altstack_size = child->signal.altstack_flags = 0;
    seccomp_inherit(child, t);
    child->process.separate = t->process.separate || !(flags & CLONE_THREAD);
    if (child->process.separate) {
        child->memory.own_limits = *t->memory.limits;
        child->memory.limits = &child->memory.own_limits;
    }
    the.os.any_separate |= child->process.separate;
    child->process.own_files = t->process.own_files || !(flags & CLONE_FILES);
    translated_copy_descriptors(child, t);
    return child;
}

/* Starts a thread, or a process that shares this memory and runs at the same time. The kernel clears `lives` when such
 * a process ends or calls exec, unless the guest has asked the kernel for that itself: then the memory of its Thread is
 * never freed. */
static i64 start_beside(Thread *t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls) {
    u64 all = ~(u64)0, mask;
    free_ended();
    translated_share(t, !(flags & CLONE_THREAD));
    Thread *child = new_beside(t, flags);
    if (!child)
        return -ENOMEM;
    start_child(child, stack, flags & CLONE_SETTLS, tls);
    if (child->process.separate && !(flags & (CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID)))
        flags |= CLONE_CHILD_CLEARTID, child_tid = (u64)&child->process.lives;
    sys_rt_sigprocmask(SIG_SETMASK, &all, &mask);
    child->signal.mask = mask;
    i64 result = SYSCALL_RESTART;
    if (!t->pending_signals) /* otherwise the mask is not the guest's */
        result = clone_on_stack(flags, child->stack.host + child->stack.host_size, parent_tid, child_tid, tls, child);
    sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
    if (result < 0)
        thread_free(child);
    return result;
}

/* A child in another namespace may find no way to start a server, so a keeper is started first. */
static void before_namespaces(Thread *t, u64 flags) {
    enum {
        NAMESPACES =
            CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
    };
    if (flags & NAMESPACES)
        translated_before_confinement(t);
}

i64 process_fork(Thread *t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls) {
    before_namespaces(t, flags);
    if (!(flags & CLONE_VM))
        return fork_process(t, flags, stack, parent_tid, child_tid, tls);
    if ((flags & (CLONE_VFORK | CLONE_THREAD | CLONE_SIGHAND)) == CLONE_VFORK)
        return vfork_process(t, flags, stack, parent_tid, child_tid, tls);
    return start_beside(t, flags, stack, parent_tid, child_tid, tls);
}

/* clone3 has arguments that clone has not. They are passed on if the process is copied; if memory is shared they are
 * refused. */
static i64 clone_by_clone3(Thread *t, const struct clone_args *a, u64 stack) {
    u64 both = CLONE_PIDFD | CLONE_PARENT_SETTID;
    if (a->flags & CSIGNAL || a->exit_signal & ~(u64)CSIGNAL)
        return -EINVAL;
    if (a->flags >> 32 || a->set_tid_size || (a->flags & both) == both)
        return -ENOSYS;
    u64 parent_tid = a->flags & CLONE_PIDFD ? a->pidfd : a->parent_tid;
    return process_fork(t, a->flags | a->exit_signal, stack, parent_tid, a->child_tid, a->tls);
}

i64 process_clone3(Thread *t, u64 args, u64 size) {
    struct clone_args a = {0};
    if (size < CLONE_ARGS_SIZE_VER0)
        return -EINVAL;
    if (size > sizeof(a))
        return -E2BIG;
    if (guest_read(args, &a, size) != size)
        return -EFAULT;
    u64 stack = a.stack ? a.stack + a.stack_size : 0;
    if (a.flags & CLONE_VM)
        return clone_by_clone3(t, &a, stack);
    a.stack = a.stack_size = 0;
    u64 host[6] = {(u64)&a, size};
    before_namespaces(t, a.flags);
    return after_clone(t, clone_alone(t, __NR_clone3, host), stack, a.flags & CLONE_SETTLS, a.tls);
}

/* ---------------------------------------------------------------------------------------------------------- exec */

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

/* execve with one more variable, the password of the shared cache. The lists are on the stack because memory that a
 * vfork child allocates would never be freed in its parent. */
static i64 exec_with_secret(Thread *t, const char *client, const char **argv, char **envp) {
    i64 count = count_strings((u64)envp);
    if (count < 0 || count > ARGS_MAX)
        return count < 0 ? count : -E2BIG;
    char variable[sizeof(SHARED_SECRET) + sizeof(((SharedMessage *)0)->password)], *list[count + 2];
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
    const char *list[argc + BEFORE + 2];
    list[0] = contained_exists() ? CONTAINED_AS_CLIENT : o->client_path;
    list[1] = options;
    list[2] = path;
    list[BEFORE] = ""; /* the kernel, too, gives a program without argv[0] an empty one */
    memcpy(list + BEFORE, argv, (size_t)argc * sizeof(char *));
    list[BEFORE + (argc ? argc : 1)] = NULL;
    if (the.server.secret)
        return exec_with_secret(t, client_file(o->client_path), list, envp);
    u64 args[6] = {(u64)client_file(o->client_path), (u64)list, (u64)envp};
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

/* Runs a program without a client. possible: the kernel would let this process run such a file; then the kernel gets the guest's limits, because the new program has nobody else to apply them. Hard limits cannot
 * be raised again, so they are set only if the file is whole and will run: exec is often tried in vain (for each directory of PATH, for a script without a #! line, for a damaged file), and this client
 * would be left with limits that are too low for it. */
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

/* ---------------------------------------------------------------------------------------------------------- exit */

bool process_leave(Thread *t) {
    tier_end(t);
    translated_lock();
    bool last = t->process.borrows_memory || (the.threads == t && !t->next);
    if (!last) {
        thread_unlist(t);
        t->next = the.os.ended;
        the.os.ended = t;
    }
    translated_unlock();
    return !last;
}

/* Ends the thread by the kernel's own call, which also wakes the threads that wait for its end, when it no longer uses its stack. All signals are blocked before that, so that the kernel gives one that comes
 * now to another thread; if this thread has noted one already, it has to be delivered first. */
i64 process_exit_thread(Thread *t, int status) {
    u64 all = ~(u64)0, mask;
    sys_rt_sigprocmask(SIG_SETMASK, &all, &mask);
    if (t->pending_signals) {
        sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
        return SYSCALL_RESTART;
    }
    if (thread_is_of_process(t))
        tool_thread_end(t);
    if (!process_leave(t))
        process_exit(t, status);
    for (;;)
        sys1(__NR_exit, (u64)status);
}

void process_exit(Thread *t, int status) {
    tool_end(t);
    if (thread_is_of_process(t)) {
        debug_exited(t, status);
        the.os.status = status;
        the.os.over = true;
    }
    if (!t->process.separate)
        after_run(t);
    if (the.opt.stats && thread_is_of_process(t))
        stats_print();
    sys_exit_group(status);
}
