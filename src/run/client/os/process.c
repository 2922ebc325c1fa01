/* process.c: how processes begin and end: fork, vfork, clone, exit. exec.c has exec.
 *
 * fork is the host's: memory, code and this very stack are copied. A child that shares memory with its parent until it calls exec
 * (vfork, posix_spawn) cannot use the parent's stack, which holds the parent's frames. These frames have no guest state, so the child
 * starts the dispatcher on a stack of its own. The parent sleeps meanwhile, so both can use the same code table and the same connection.
 */
#include <linux/sched.h>

#include "host_context.h"
#include "run/client/code/after.h"
#include "run/client/code/tier.h"
#include "run/client/code/translated.h"
#include "run/client/core/debug.h"
#include "run/client/memory/limits.h"
#include "run/client/memory/space.h"
#include "run/client/os/process.h"
#include "run/client/os/seccomp.h"
#include "run/client/os/signal/signal.h"
#include "run/client/tool/tool.h"

i64 clone_on_stack(u64 flags, u64 stack_top, u64 parent_tid, u64 child_tid, u64 tls, Thread *child);
__attribute__((visibility("hidden"))) _Noreturn void process_child_start(Thread *t);

/* ---------------------------------------------------------------------------------------------------------- fork */

/* Sets the registers in which the child differs from its parent. It gets no thread number here, but in thread_become: until then its Thread must not
 * have its parent's number, or the parent would get the signals that others send to the child. */
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

/* Makes the call with all locks held, so that no other thread is just changing the arena, the address space or a tool's data. The child does not have
 * that thread, so the change would never be completed there. */
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

/* The thread pointer is in a host register only where that is the guest's own. */
static u64 host_flags(u64 flags) {
    return guest_facts.is_hosts ? flags : flags & ~(u64)CLONE_SETTLS;
}

/* Parent and child share the memory of translated code until one of them adds to it. Whichever does so first, parent or
 * child, makes a copy before, so both must know of the sharing before there are two. */
static i64 fork_process(Thread *t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls) {
    u64 args[6] = {host_flags(flags), 0, parent_tid, HOST_CLONE_ARGUMENTS(child_tid, tls), 0};
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
        result = clone_on_stack(host_flags(flags), child->stack.host + child->stack.host_size, parent_tid, child_tid,
                                tls, child);
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
        result = clone_on_stack(host_flags(flags), child->stack.host + child->stack.host_size, parent_tid, child_tid,
                                tls, child);
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

/* An emulator has vfork as fork: the child gets memory of its own, and the parent does not wait. */
i64 process_fork(Thread *t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls) {
    bool borrows = (flags & (CLONE_VM | CLONE_VFORK | CLONE_THREAD | CLONE_SIGHAND)) == (CLONE_VM | CLONE_VFORK);
    before_namespaces(t, flags);
    if (borrows && *the.opt.emulator)
        flags &= ~(u64)(CLONE_VM | CLONE_VFORK);
    if (!(flags & CLONE_VM))
        return fork_process(t, flags, stack, parent_tid, child_tid, tls);
    if (borrows)
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
    u64 flags = a.flags;
    a.stack = a.stack_size = 0;
    a.flags = host_flags(flags);
    u64 host[6] = {(u64)&a, size};
    before_namespaces(t, flags);
    return after_clone(t, clone_alone(t, __NR_clone3, host), stack, flags & CLONE_SETTLS, a.tls);
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

/* Ends the thread by the kernel's own call, which also wakes the threads that wait for its end, when it no longer uses its stack. All signals are
 * blocked before that, so that the kernel gives one that comes now to another thread; if this thread has noted one already, it has to be delivered
 * first. */
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
