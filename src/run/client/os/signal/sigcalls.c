/* sigcalls.c: the guest's system calls about signals. Masks and pending signals are kept by the kernel, except for the
 * signals that the client has taken on the host (signal_ours in signal.h): these are added to the kernel's answers, and
 * removed from the sets that are passed to the kernel. */
#include "run/client/code/tier.h"
#include "run/client/core/events.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"
#include "run/client/os/signal/last.h"
#include "run/client/os/signal/signal.h"
#include "run/client/os/signal/waits.h"

#define SA_KNOWN_FLAGS                                                                                                 \
    ((u64)(SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | SA_RESETHAND |            \
           SA_EXPOSE_TAGBITS | 0x04000000 /* SA_RESTORER */))

/* ------------------------------------------------------------------------------------------------------------- handlers */

static bool is_ours(u64 sig) {
    return signal_ours() & signal_bit((u32)sig);
}

/* Makes the host's handler for the signal what the guest's new action needs: the client's handler, or the guest's own action (default or ignored). */
static i64 set_on_host(u32 sig, const Action *a) {
    if (a->handler > (u64)SIG_IGN || (!a->handler && last_watches(sig)))
        return signal_set_host_handler(sig, a->flags);
    return is_ours(sig) ? 0 : sys_rt_sigaction((int)sig, a, NULL);
}

static i64 set_action(Thread *t, u32 sig, const Action *a) {
    SignalState *table = signal_table(t);
    if (!table)
        return -ENOMEM;
    lock(&table->lock);
    i64 error = set_on_host(sig, a);
    if (!error)
        table->action[sig] = *a;
    unlock(&table->lock);
    if (error)
        return error;
    if (a->handler == (u64)SIG_IGN)
        t->signal.held &= ~signal_bit(sig);
    else if (a->handler && signal_is_fault(sig))
        tier_keep_state(t);
    else if (a->handler)
        tier_use_handlers(t);
    return 0;
}

static Action get_action(Thread *t, u32 sig) {
    Action a = {0};
    if (!t->signal.table)
        return a;
    lock(&t->signal.table->lock);
    a = t->signal.table->action[sig];
    unlock(&t->signal.table->lock);
    return a;
}

i64 signal_action(Thread *t, u64 sig, u64 act, u64 old, u64 size) {
    if (size != sizeof(u64) || sig < 1 || sig > SIGNALS)
        return -EINVAL;
    Action a, host, before = get_action(t, (u32)sig);
    if (act && !frame_read_action(act, &a))
        return -EFAULT;
    if (before.handler <= (u64)SIG_IGN && !is_ours(sig) && !sys_rt_sigaction((int)sig, NULL, &host) &&
        host.handler <= (u64)SIG_IGN) /* what was ignored from the start is only in the host's table */
        before = host;
    if (old && !frame_write_action(old, &before))
        return -EFAULT;
    if (!act)
        return 0;
    a.flags &= SA_KNOWN_FLAGS;
    a.mask &= ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
    return set_action(t, (u32)sig, &a);
}

/* ---------------------------------------------------------------------------------------------------------------- masks */

i64 signal_procmask(Thread *t, u64 how, u64 set, u64 old, u64 size) {
    u64 want = 0;
    if (size != sizeof(u64))
        return -EINVAL;
    if (set && guest_read(set, &want, sizeof(want)) != sizeof(want))
        return -EFAULT;
    i64 error = signal_change_mask(t, how, set ? &want : NULL, (u64 *)old);
    if (!error)
        signal_release_held(t);
    return error;
}

i64 signal_pending(Thread *t, u64 set, u64 size) {
    const u64 args[6] = {set, size};
    i64 error = syscall_repeated(t, __NR_rt_sigpending, args);
    if (!error && t->signal.held && size == sizeof(u64))
        *(u64 *)set |= t->signal.held;
    return error;
}

/* Makes a call during which another signal mask is in force. The handler of a signal that comes meanwhile runs with
 * that mask. */
static i64 call_suspended(Thread *t, u64 number, const u64 args[6], u64 mask) {
    t->signal.suspend_mask = mask & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
    t->signal.suspended = true;
    signal_release_held(t);
    i64 result = t->pending_signals ? -EINTR : syscall_repeated(t, number, args);
    /* The host never blocks the client's signals. So one of them, which the guest blocks outside of the call, may come before the call begins. For the
     * guest it has come during the call. */
    bool for_us = result == SYSCALL_RESTART && (t->pending_signals & t->signal.blocked);
    t->signal.suspended = t->pending_signals && (result == -EINTR || for_us);
    return for_us ? -EINTR : result;
}

i64 signal_suspended(Thread *t, u64 number, const u64 args[6], u32 mask_at) {
    u64 mask, host_args[6];
    if (!args[mask_at] || args[mask_at + 1] != sizeof(mask))
        return syscall_repeated(t, number, args);
    if (guest_read(args[mask_at], &mask, sizeof(mask)) != sizeof(mask))
        return -EFAULT;
    u64 host_mask = mask & ~signal_ours();
    memcpy(host_args, args, sizeof(host_args));
    host_args[mask_at] = (u64)&host_mask;
    return call_suspended(t, number, host_args, mask);
}

i64 signal_suspended_by(Thread *t, u64 number, const u64 args[6]) {
    enum { MASK_AT = 5 };
    u64 where[2], mask, host_args[6];
    if (!args[MASK_AT])
        return syscall_repeated(t, number, args);
    if (guest_read(args[MASK_AT], where, sizeof(where)) != sizeof(where))
        return -EFAULT;
    if (!where[0] || where[1] != sizeof(mask))
        return syscall_repeated(t, number, args);
    if (guest_read(where[0], &mask, sizeof(mask)) != sizeof(mask))
        return -EFAULT;
    u64 host_mask = mask & ~signal_ours(), host_where[2] = {(u64)&host_mask, sizeof(host_mask)};
    memcpy(host_args, args, sizeof(host_args));
    host_args[MASK_AT] = (u64)host_where;
    return call_suspended(t, number, host_args, mask);
}

static i64 wait_for_ring(Thread *t, const u64 args[6]) {
    struct io_uring_getevents_arg wait;
    u64 mask, host_args[6];
    if (!(args[3] & IORING_ENTER_EXT_ARG))
        return signal_suspended(t, __NR_io_uring_enter, args, 4);
    if (args[5] != sizeof(wait) || guest_read(args[4], &wait, sizeof(wait)) != sizeof(wait) || !wait.sigmask ||
        wait.sigmask_sz != sizeof(mask) || guest_read(wait.sigmask, &mask, sizeof(mask)) != sizeof(mask))
        return syscall_repeated(t, __NR_io_uring_enter, args);
    u64 host_mask = mask & ~signal_ours();
    wait.sigmask = (u64)&host_mask;
    memcpy(host_args, args, sizeof(host_args));
    host_args[4] = (u64)&wait;
    return call_suspended(t, __NR_io_uring_enter, host_args, mask);
}

/* Hands requests over to the kernel, and does not wait. All signals are blocked meanwhile: the kernel may have to start
 * its first worker thread for the requests, and if a signal prevented that, it would cancel them and tell the guest so. */
static i64 hand_over(const u64 args[6]) {
    u64 all = ~(u64)0, mask, flags = args[3] & ~(u64)(IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG);
    sys_rt_sigprocmask(SIG_SETMASK, &all, &mask);
    i64 result = sys6(__NR_io_uring_enter, args[0], args[1], 0, flags, 0, 0);
    sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
    return result;
}

/* Hands over first and then waits, as the kernel does. Once requests were handed over, their number is the result,
 * however the wait ends. */
i64 signal_suspended_ring(Thread *t, const u64 args[6]) {
    u64 wait[6];
    if (!args[1] || args[3] & IORING_ENTER_SQ_WAIT)
        return wait_for_ring(t, args);
    i64 count = hand_over(args);
    if (count < 0 || (u64)count < args[1] || !(args[3] & IORING_ENTER_GETEVENTS))
        return count;
    memcpy(wait, args, sizeof(wait));
    wait[1] = 0;
    wait_for_ring(t, wait);
    return count;
}

/* -------------------------------------------------------------------------------------------------- waiting for signals */

/* The signal by which tier.c takes samples never reaches the guest, so the guest never waits for it. */
static u64 without_samples(u64 set) {
    return set & ~(signal_ours() & signal_bit(TIER_SIGNAL));
}

i64 signal_timedwait(Thread *t, u64 set, u64 info, u64 timeout, u64 size) {
    u64 want;
    SignalInfo held;
    if (size != sizeof(want))
        return -EINVAL;
    if (guest_read(set, &want, sizeof(want)) != sizeof(want))
        return -EFAULT;
    u64 host = without_samples(want);
    u64 args[6] = {(u64)&host, info, timeout, size};
    Deadline deadline = deadline_of(__NR_rt_sigtimedwait, args);
    bool begun = false;
    for (;;) {
        if (signal_take_held(t, want, &held)) {
            if (info && guest_write(info, &held, sizeof(held)) != sizeof(held))
                return -EFAULT;
            return held.number;
        }
        t->process.repeat = false;
        i64 result = syscall_guarded(&t->pending_signals, __NR_rt_sigtimedwait, args);
        if (result == SYSCALL_RESTART && begun)
            return -EINTR;
        if (result != -EINTR || !t->process.repeat || t->pending_signals)
            return result;
        begun = true;
        deadline_apply(&deadline, args);
    }
}

i64 signal_descriptor(Thread *t, u64 number, const u64 args[6]) {
    u64 want, host_args[6];
    if (guest_read(args[1], &want, sizeof(want)) != sizeof(want))
        return syscall_repeated(t, number, args);
    want = without_samples(want);
    memcpy(host_args, args, sizeof(host_args));
    host_args[1] = (u64)&want;
    return syscall_repeated(t, number, host_args);
}

/* ------------------------------------------------------------------------------------------------------ alternate stack */

/* The alternate stack grows downwards from its end. A stack pointer at the end is on it, with nothing pushed yet; one at its first byte is not, as in
 * the kernel. */
bool signal_on_altstack(const Thread *t) {
    return guest_sp(&t->cpu) - t->signal.altstack - 1 < t->signal.altstack_size &&
           !(t->signal.altstack_flags & SS_AUTODISARM);
}

static i64 set_altstack(Thread *t, const AltStack *s) {
    u32 mode = s->flags & ~(u32)SS_AUTODISARM;
    if (signal_on_altstack(t))
        return -EPERM;
    if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
        return -EINVAL;
    if (mode != SS_DISABLE && s->size < guest_facts.signal_stack_least)
        return -ENOMEM;
    t->signal.altstack = mode == SS_DISABLE ? 0 : s->base;
    t->signal.altstack_size = mode == SS_DISABLE ? 0 : s->size;
    t->signal.altstack_flags = s->flags;
    return 0;
}

i64 signal_altstack(Thread *t, u64 stack, u64 old) {
    AltStack now,
        before = {t->signal.altstack, t->signal.altstack_flags & (u32)SS_AUTODISARM, 0, t->signal.altstack_size};
    before.flags |= !t->signal.altstack_size ? SS_DISABLE : signal_on_altstack(t) ? SS_ONSTACK : 0;
    if (stack && guest_read(stack, &now, sizeof(now)) != sizeof(now))
        return -EFAULT;
    i64 error = stack ? set_altstack(t, &now) : 0;
    return !error && old && guest_write(old, &before, sizeof(before)) != sizeof(before) ? -EFAULT : error;
}
