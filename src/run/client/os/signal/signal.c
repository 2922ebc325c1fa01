/* signal.c: signals of the guest: how they work, and the masks and handlers of each thread and process. arrive.c has the host's handlers, deliver.c
 * lets the guest's handlers run, sigcalls.c has the system calls about signals, and waits.c completes system calls that signals have interrupted.
 *
 * A signal for which the guest has no handler is left to the host's kernel: default actions, ignored signals, masks, pending signals and calls that
 * wait for signals are the kernel's own. For a signal with a handler of the guest, the host's handler is the client's (on_signal in arrive.c). It
 * only notes the signal, and makes the thread come soon to a place where the guest's state is complete in the Thread; there signal_deliver builds the
 * frame for the guest's handler. In quick code the state is complete between any two guest instructions: either at once, or after a few single steps.
 * Elsewhere it is complete at system calls and in the dispatcher.
 *
 * From noting to delivering the host blocks all other signals, so that a thread never has more than one signal noted and the kernel queues the rest;
 * t->signal.mask is the guest's mask meanwhile. Every system call of the guest first looks for a noted signal.
 *
 * Some signals are always the client's on the host, whether the guest has handlers for them or not, and are never blocked (signal_ours): those of
 * faults, because writes to code (code/quick/forget.c) and single steps arrive as such, and the one that tier.c uses. Whether the guest blocks them
 * is recorded in the Thread. If somebody sends such a signal while the guest blocks it, it is held in the Thread.
 *
 * A fault in quick code becomes the guest's signal, with the exact state. At a fault in optimised code only a part of the registers holds the guest's
 * state. If the guest has no handler, it dies as it should. Once it has a handler, it gets no more optimised code; with --tier=opt and a guest of
 * another kind than the host, optimised code is made anew so that a failing memory access can leave it with the complete state. Traps that lifted
 * code reports (signal_trap) have the exact state.
 * */
#include "run/client/os/signal/signal.h"

#include "run/client/code/tier.h"
#include "run/client/core/debug.h"
#include "run/client/core/events.h"
#include "run/client/memory/own.h"
#include "run/client/os/signal/last.h"

enum { CODE_QUEUED = -1 /* SI_QUEUE */, CODE_LOST = 0 /* SI_USER, from process 0 */ };

u64 signal_faults(void) {
    return signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGFPE) | signal_bit(SIGILL) | signal_bit(SIGTRAP);
}

u64 signal_ours(void) {
    bool messages = the.opt.tier == TIER_AUTO || the.opt.debugger_state & DEBUGGER_ONCE;
    return signal_faults() | (messages ? signal_bit(TIER_SIGNAL) : 0);
}

bool signal_is_fault(u32 sig) {
    return signal_faults() & signal_bit(sig);
}

static void set_host_mask(u64 mask) {
    mask &= ~signal_ours();
    sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
}

void signal_send_again(Thread *t, const SignalInfo *info) {
    sys4(__NR_rt_tgsigqueueinfo, (u64)sys_getpid(), t->tid, (u64)info->number, (u64)info);
}

/* ------------------------------------------------------------------------------------------------------- signals of ours */

/* If the user's limit of queued signals is reached, the kernel sends the signal without its information. So the mark is also stored in the thread. */
bool signal_nudge(Thread *t, const void *mark) {
    SignalInfo info = {.number = SIGTRAP, .code = CODE_QUEUED};
    memcpy(info.rest, &mark, sizeof(mark));
    __atomic_store_n(&t->signal.nudge, mark, __ATOMIC_RELEASE);
    return sys4(__NR_rt_tgsigqueueinfo, t->pid, t->tid, SIGTRAP, (u64)&info) != -ESRCH;
}

bool signal_is_nudge(const SignalInfo *info, const void *mark) {
    static const u8 nobody[sizeof(u64)];
    if (info->number != SIGTRAP)
        return false;
    if (info->code == CODE_LOST && !memcmp(info->rest, nobody, sizeof(nobody)))
        return __atomic_load_n(&thread_self()->signal.nudge, __ATOMIC_ACQUIRE) == mark;
    return info->code == CODE_QUEUED && !memcmp(info->rest, &mark, sizeof(mark));
}

static u8 *held_info(Thread *t, u32 sig) {
    u32 index = (u32)__builtin_popcountll((signal_faults() | signal_bit(TIER_SIGNAL)) & (signal_bit(sig) - 1));
    return t->signal.held_info[index];
}

void signal_hold(Thread *t, const SignalInfo *info) {
    u64 b = signal_bit((u32)info->number);
    if (!(t->signal.held & b))
        memcpy(held_info(t, (u32)info->number), info, sizeof(*info));
    t->signal.held |= b;
}

u64 signal_blocked_now(const Thread *t) {
    return t->signal.suspended ? t->signal.suspend_mask & signal_ours() : t->signal.blocked;
}

bool signal_take_held(Thread *t, u64 set, SignalInfo *info) {
    u64 ready = t->signal.held & set;
    if (!ready)
        return false;
    u32 sig = (u32)__builtin_ctzll(ready) + 1;
    memcpy(info, held_info(t, sig), sizeof(*info));
    t->signal.held &= ~signal_bit(sig);
    return true;
}

void signal_release_held(Thread *t) {
    SignalInfo info;
    while (!t->pending_signals && signal_take_held(t, ~signal_blocked_now(t), &info))
        signal_send_again(t, &info);
}

void signal_set_mask(Thread *t, u64 mask) {
    t->signal.blocked = mask & signal_ours();
    set_host_mask(mask);
    t->signal.masking = false;
    signal_release_held(t);
}

void signal_set_host_default(u32 sig) {
    Action a = {0};
    sys_rt_sigaction((int)sig, &a, NULL);
}

bool signal_has_handler(const Thread *t, u32 sig) {
    return t->signal.table && __atomic_load_n(&t->signal.table->action[sig].handler, __ATOMIC_RELAXED) > (u64)SIG_IGN;
}

bool signal_restarts(const Thread *t) {
    u32 sig = (u32)__builtin_ctzll(t->pending_signals) + 1;
    return t->pending_signals && t->signal.table && t->signal.table->action[sig].flags & SA_RESTART;
}

/* The first process of a PID namespace does not die of a signal that it sends itself, so a real fault follows. Other signals stay blocked: their handlers would block
 * this one. */
_Noreturn void signal_die(int sig) {
    signal_set_host_default((u32)sig);
    set_host_mask(~signal_bit((u32)sig));
    sys_tgkill(sys_getpid(), sys_gettid(), sig);
    fault_with(sig);
    sys_exit_group(128 + sig);
}

i64 signal_change_mask(Thread *t, u64 how, const u64 *set, u64 *old) {
    u64 ours = signal_ours(), before = t->signal.blocked, host = set ? *set & ~ours : 0;
    const u64 args[6] = {how, set ? (u64)&host : 0, (u64)old, sizeof(host)};
    if (set) /* before the call, because a signal may come at once */
        t->signal.blocked = (how == SIG_BLOCK ? before | *set : how == SIG_UNBLOCK ? before & ~*set : *set) & ours;
    i64 error = syscall_guarded(&t->pending_signals, __NR_rt_sigprocmask, args);
    if (error) {
        t->signal.blocked = before;
        t->signal.mask = (t->signal.mask & ~ours) | before;
    } else if (old && before)
        *old |= before;
    return error;
}

/* ---------------------------------------------------------------------------------------------------------- threads */

SignalState *signal_table(Thread *t) {
    if (!t->signal.table)
        t->signal.table = sys_pages(sizeof(SignalState));
    return t->signal.table;
}

bool signal_share(Thread *child, Thread *parent) {
    child->signal.blocked = parent->signal.blocked;
    child->signal.table = signal_table(parent);
    child->signal.shares = parent->signal.shares = true;
    return child->signal.table;
}

bool signal_copy(Thread *child, const Thread *parent) {
    child->signal.blocked = parent->signal.blocked;
    child->signal.altstack = parent->signal.altstack;
    child->signal.altstack_size = parent->signal.altstack_size;
    child->signal.altstack_flags = parent->signal.altstack_flags;
    SignalState *table = signal_table(child);
    if (table && parent->signal.table)
        memcpy(table->action, parent->signal.table->action, sizeof(table->action));
    return table;
}

void signal_forget(Thread *t) {
    if (t->signal.table && !t->signal.shares)
        sys_pages_free(t->signal.table, sizeof(*t->signal.table));
    t->signal.table = NULL;
}

void signal_after_fork(Thread *t) {
    t->signal.held = 0;
    if (t->signal.table)
        t->signal.table->lock = 0; /* another thread may have held it; fork did not copy that thread */
}

/* ------------------------------------------------------------------------------------------------------------- exec */

/* During exec the host gets the guest's ignored and blocked signals, which the new program inherits. Signals that are
 * held are sent again, so that they are pending there. */
void signal_before_exec(Thread *t) {
    const Action ignore = {.handler = (u64)SIG_IGN};
    SignalInfo info;
    for (u32 sig = 1; sig <= SIGNALS; sig++)
        if ((signal_ours() & signal_bit(sig)) && t->signal.table &&
            t->signal.table->action[sig].handler == (u64)SIG_IGN)
            sys_rt_sigaction((int)sig, &ignore, NULL);
    if (t->signal.blocked)
        sys_rt_sigprocmask(SIG_BLOCK, &t->signal.blocked, NULL);
    while (signal_take_held(t, t->signal.blocked, &info))
        signal_send_again(t, &info);
}

void signal_after_exec(Thread *t) {
    for (u32 sig = 1; sig <= SIGNALS; sig++)
        if ((signal_ours() & signal_bit(sig)) && t->signal.table &&
            t->signal.table->action[sig].handler == (u64)SIG_IGN)
            signal_set_host_handler(sig, 0);
    if (t->signal.blocked)
        sys_rt_sigprocmask(SIG_UNBLOCK, &t->signal.blocked, NULL);
}

/* Installs the host's handlers for signals that end a program which a tool or a debugger watches (last.c). A signal that was ignored when the program
 * was started stays ignored. */
static void watch_last(Thread *t) {
    Action a;
    for (u32 sig = 1; sig <= SIGNALS; sig++)
        if (last_watches(sig) && !(signal_ours() & signal_bit(sig)) && !sys_rt_sigaction((int)sig, NULL, &a) &&
            !a.handler)
            signal_set_host_handler(sig, 0);
    if (last_watches(SIGTERM))
        tier_use_polls(t);
}

void signal_init(Thread *t) {
    u64 mask = 0;
    sys_rt_sigprocmask(SIG_BLOCK, NULL, &mask);
    t->signal.blocked = mask & signal_ours();
    for (u32 sig = 1; sig <= SIGNALS; sig++) {
        Action a = {0};
        if (!(signal_ours() & signal_bit(sig)))
            continue;
        sys_rt_sigaction((int)sig, NULL, &a);
        if (a.handler == (u64)SIG_IGN && signal_table(t))
            t->signal.table->action[sig] = a;
        signal_set_host_handler(sig, 0);
    }
    watch_last(t);
    set_host_mask(mask);
}
