/* signal.c: signals of the guest.
 *
 * A signal without a handler of the guest is left to the host's kernel altogether: default actions, ignored signals,
 * masks, what is pending and what waits for signals are the host's own. For each signal with a handler the host has
 * ours (on_signal), which only notes the signal: the guest's state is complete at system calls and in the dispatcher,
 * and there signal_deliver makes the frame.
 *
 * Between the two, the host blocks everything else, so that a thread never has more than one signal waiting here and
 * the kernel queues the rest; t->signal_mask is the guest's mask meanwhile. Every guest system call looks for a noted
 * signal first.
 *
 * Faults of translated code (SIGSEGV and the like) come with registers that are the guest's only in part. A guest that
 * has no handler dies of them as it should; with a handler it dies, too, after a message. Traps that lifted code
 * reports (signal_trap) have exact state.
 */
#include "run/client/frame.h"

enum { SIGNALS = 64, SA_KERNEL_RESTORER = 0x04000000, TRAP_LENGTH = 2 /* of int n */ };

typedef struct Action { /* struct sigaction as the kernel has it */
    u64 handler, flags, restorer, mask;
} Action;

typedef struct SignalState {
    Action action[SIGNALS + 1]; /* handler 0: no handler, and the host's action is the guest's */
} SignalState;

typedef struct AltStack { /* stack_t */
    u64 base;
    u32 flags, reserved;
    u64 size;
} AltStack;

extern u8 guard_start[] __attribute__((visibility("hidden"))), guard_syscall[] __attribute__((visibility("hidden"))),
    guard_abort[] __attribute__((visibility("hidden"))), signal_restorer[] __attribute__((visibility("hidden")));

static u64 bit(u32 sig) {
    return (u64)1 << (sig - 1);
}

static u64 faults(void) {
    return bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP);
}

static void set_host_mask(u64 mask) {
    sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void set_host_default(u32 sig) {
    Action a = {0};
    sys_rt_sigaction((int)sig, &a, NULL);
}

/* To this thread, with the same information; the kernel keeps it if it is blocked. */
static void send_again(Thread *t, const SignalInfo *info) {
    sys4(__NR_rt_tgsigqueueinfo, (u64)sys_getpid(), t->tid, (u64)info->number, (u64)info);
}

/* ------------------------------------------------------------------------------------------------------ the host's
 * side */

/* Nothing in the registers says which thread a handler interrupted, but the stack does. */
static Thread *thread_of_stack(u64 sp) {
    for (Thread *t = __atomic_load_n(&the.threads, __ATOMIC_ACQUIRE); t; t = t->next)
        if (sp - t->host_stack < t->host_stack_size)
            return t;
    return NULL;
}

/* A handler that would need the exact state of the middle of lifted code. The instruction that faulted does so again.
 * */
static void fault_without_state(const SignalInfo *info) {
    say("signal %d at data address %lx: handlers of faults are not supported yet", info->number, info->address);
    set_host_default((u32)info->number);
    if (info->number == SIGTRAP)
        sys_tgkill(sys_getpid(), sys_gettid(), SIGTRAP);
}

static void on_signal(int sig, const SignalInfo *info, SignalContext *context) {
    if (info->code > 0 && (faults() & bit((u32)sig))) {
        fault_without_state(info);
        return;
    }
    Thread *t = thread_of_stack(context->rsp);
    if (!t)
        return;
    t->signal_mask = context->mask;
    memcpy(t->pending_info, info, sizeof(t->pending_info));
    t->pending_signals = bit((u32)sig);
    context->mask = ~(u64)0;
    if (context->rip >= (u64)guard_start && context->rip <= (u64)guard_syscall)
        context->rip = (u64)guard_abort;
}

static i64 set_host_handler(u32 sig, const Action *guest) {
    Action a = {
        .handler = (u64)on_signal,
        .flags = (guest->flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT)) | SA_SIGINFO | SA_KERNEL_RESTORER,
        .restorer = (u64)signal_restorer,
        .mask = ~(u64)0,
    };
    return sys_rt_sigaction((int)sig, &a, NULL);
}

/* ------------------------------------------------------------------------------------------------------------ handlers
 * */

static bool has_handler(const Thread *t, u32 sig) {
    return t->signals && t->signals->action[sig].handler;
}

/* The thread's table, made at its first use; also from now on the thread is found by on_signal. */
static SignalState *table_of(Thread *t) {
    if (!t->signals) {
        t->signals = sys_pages(sizeof(SignalState));
        if (!t->signals)
            return NULL;
        t->next = the.threads;
        __atomic_store_n(&the.threads, t, __ATOMIC_RELEASE);
    }
    return t->signals;
}

static i64 set_action(Thread *t, u32 sig, const Action *a) {
    if (a->handler <= (u64)SIG_IGN) {
        i64 error = sys_rt_sigaction((int)sig, a, NULL);
        if (!error && t->signals)
            t->signals->action[sig].handler = 0;
        return error;
    }
    SignalState *table = table_of(t);
    if (!table)
        return -ENOMEM;
    i64 error = set_host_handler(sig, a);
    if (!error)
        table->action[sig] = *a;
    return error;
}

/* The kernel writes to guest memory before we do: a bad address is its EFAULT and no fault of ours. */
i64 signal_action(Thread *t, u64 sig, u64 act, u64 old, u64 size) {
    if (size != sizeof(u64) || sig < 1 || sig > SIGNALS)
        return -EINVAL;
    Action a, before = {0};
    if (act && guest_read(act, &a, sizeof(a)) != sizeof(a))
        return -EFAULT;
    bool had = has_handler(t, (u32)sig);
    if (had)
        before = t->signals->action[sig];
    if (old) {
        i64 error = sys_rt_sigaction((int)sig, NULL, (void *)old);
        if (error)
            return error;
        if (had)
            memcpy((void *)old, &before, sizeof(before));
    }
    return act ? set_action(t, (u32)sig, &a) : 0;
}

/* ------------------------------------------------------------------------------------------------------------ delivery
 * */

static bool on_altstack(const Thread *t) {
    return t->cpu.gp[LATHE_RSP] - t->altstack < t->altstack_size && !(t->altstack_flags & SS_AUTODISARM);
}

/* The guest goes on in its handler; the mask is what it will return to. */
static void enter_handler(Thread *t, const SignalInfo *info, u64 mask) {
    u32 sig = (u32)info->number;
    Action a = t->signals->action[sig];
    bool switch_stack = (a.flags & SA_ONSTACK) && t->altstack_size && !on_altstack(t);
    frame_push(t, info, mask, a.handler, a.restorer, switch_stack ? t->altstack + t->altstack_size : 0);
    if (switch_stack && (t->altstack_flags & SS_AUTODISARM))
        t->altstack = t->altstack_size = t->altstack_flags = 0;
    if (a.flags & SA_RESETHAND) {
        t->signals->action[sig].handler = 0;
        set_host_default(sig);
    }
    set_host_mask(mask | a.mask | (a.flags & SA_NODEFER ? 0 : bit(sig)));
}

static void take_pending(Thread *t, SignalInfo *info) {
    memcpy(info, t->pending_info, sizeof(*info));
    t->pending_signals = 0;
}

void signal_deliver(Thread *t) {
    if (!t->pending_signals)
        return;
    SignalInfo info;
    take_pending(t, &info);
    if (has_handler(t, (u32)info.number)) {
        enter_handler(t, &info, t->signal_mask);
        return;
    }
    /* The handler was removed since: the host does what is to be done. */
    send_again(t, &info);
    set_host_mask(t->signal_mask);
}

void signal_return(Thread *t) {
    const SignalContext *s = frame_pop(t);
    t->altstack = s->stack;
    t->altstack_flags = s->stack_flags & (u32)SS_AUTODISARM;
    t->altstack_size = s->stack_flags & SS_DISABLE ? 0 : s->stack_size;
    set_host_mask(s->mask);
}

/* --------------------------------------------------------------------------------------------------------------- traps
 * */

static SignalInfo info_of_trap(LatheX86Cpu *c) {
    SignalInfo info = {.number = SIGSEGV, .code = SI_KERNEL};
    switch ((LatheTrap)c->trap) {
    case LATHE_TRAP_DIVIDE:
        info.number = SIGFPE, info.code = FPE_INTDIV, info.address = c->pc;
        break;
    case LATHE_TRAP_UNSUPPORTED:
    case LATHE_TRAP_UNDEFINED:
        info.number = SIGILL, info.code = ILL_ILLOPN, info.address = c->pc;
        break;
    case LATHE_TRAP_BREAK:
        info.number = SIGTRAP;
        break;
    case LATHE_TRAP_UNREADABLE:
        info.code = SEGV_MAPERR, info.address = c->pc;
        break;
    case LATHE_TRAP_INTERRUPT: /* a fault, not a trap: the CPU reports the instruction itself */
        if (c->trap_info == 3)
            info.number = SIGTRAP;
        else
            c->pc -= TRAP_LENGTH;
        break;
    case LATHE_TRAP_PRIVILEGED:
    case LATHE_TRAP_SYSCALL:
    case LATHE_TRAP_NONE:
        break;
    }
    return info;
}

static void explain(const LatheX86Cpu *c, u32 trap) {
    u8 bytes[8] = {0};
    char text[2 * sizeof(bytes) + 1] = "";
    size_t n = guest_read(c->pc, bytes, sizeof(bytes));
    for (size_t i = 0; i < n; i++)
        format_text(text + 2 * i, 3, "%02x", bytes[i]);
    if (trap == LATHE_TRAP_UNSUPPORTED)
        say("an instruction that is not supported, at %lx: %s", c->pc, text);
    else if (trap == LATHE_TRAP_INTERRUPT && c->trap_info == 0x80)
        say("32-bit system calls (int 0x80) are not supported, at %lx", c->pc);
}

static _Noreturn void die_of(const SignalInfo *info) {
    set_host_default((u32)info->number);
    set_host_mask(0);
    sys_tgkill(sys_getpid(), sys_gettid(), info->number);
    sys_exit_group(128 + info->number);
}

/* The guest's mask. A signal that is noted goes back to the kernel and comes again when the mask allows it. */
static u64 put_back_pending(Thread *t) {
    u64 mask = 0;
    if (t->pending_signals) {
        SignalInfo info;
        take_pending(t, &info);
        send_again(t, &info);
        return t->signal_mask;
    }
    sys_rt_sigprocmask(SIG_BLOCK, NULL, &mask);
    return mask;
}

void signal_trap(Thread *t) {
    u32 trap = t->cpu.trap;
    SignalInfo info = info_of_trap(&t->cpu);
    t->cpu.trap = LATHE_TRAP_NONE;
    u64 mask = put_back_pending(t);
    if (!has_handler(t, (u32)info.number) || (mask & bit((u32)info.number))) {
        explain(&t->cpu, trap);
        die_of(&info);
    }
    enter_handler(t, &info, mask);
}

/* ----------------------------------------------------------------------------------------------------- alternate stack
 * */

i64 signal_altstack(Thread *t, u64 stack, u64 old) {
    AltStack now, before = {t->altstack, t->altstack_flags, 0, t->altstack_size};
    before.flags |= !t->altstack_size ? SS_DISABLE : on_altstack(t) ? SS_ONSTACK : 0;
    if (stack && guest_read(stack, &now, sizeof(now)) != sizeof(now))
        return -EFAULT;
    if (old) {
        i64 error = sys_sigaltstack(NULL, (void *)old);
        if (error)
            return error;
        memcpy((void *)old, &before, sizeof(before));
    }
    if (!stack)
        return 0;
    u32 mode = now.flags & ~(u32)SS_AUTODISARM;
    if (on_altstack(t))
        return -EPERM;
    if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
        return -EINVAL;
    if (mode == SS_DISABLE)
        now.base = now.size = 0;
    else if (now.size < MINSIGSTKSZ)
        return -ENOMEM;
    t->altstack = now.base;
    t->altstack_size = now.size;
    t->altstack_flags = now.flags & (u32)SS_AUTODISARM;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- threads
 * */

bool signal_copy(Thread *child, const Thread *parent) {
    child->signal_mask = child->pending_signals = 0;
    child->altstack = parent->altstack;
    child->altstack_size = parent->altstack_size;
    child->altstack_flags = parent->altstack_flags;
    SignalState *table = table_of(child);
    if (table && parent->signals)
        *table = *parent->signals;
    return table;
}

void signal_forget(Thread *t) {
    if (!t->signals)
        return;
    for (Thread **at = &the.threads; *at; at = &(*at)->next) {
        if (*at == t) {
            __atomic_store_n(at, t->next, __ATOMIC_RELEASE);
            break;
        }
    }
    sys_pages_free(t->signals, sizeof(*t->signals));
    t->signals = NULL;
}
