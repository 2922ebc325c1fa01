/* signal.c: signals of the guest.
 *
 * A signal without a handler of the guest is left to the host's kernel altogether: default actions, ignored signals, masks, what
 * is pending and what waits for signals are the host's own. For each signal with a handler the host has ours (on_signal), which
 * only notes the signal and sees to it that the guest's state gets whole soon; there signal_deliver makes the frame. In quick code
 * the state is whole at every guest instruction: if the signal came between two, at once, else a few single steps later. Elsewhere
 * it is at system calls and in the dispatcher.
 *
 * From noting to delivering the host blocks everything else, so that a thread never has more than one signal waiting here and the
 * kernel queues the rest; t->signal_mask is the guest's mask meanwhile. Every guest system call looks for a noted signal first.
 *
 * Signals of faults are the client's on the host, with and without handlers of the guest, and never blocked: writes to code
 * (quick.c) and single steps come as such. A fault of quick code becomes the guest's signal, with the exact state. Faults of
 * optimised code come with registers that are the guest's only in part: a guest that has no handler dies of them as it should.
 * With --tier=auto a guest that has one gets no more optimised code; with --tier=opt it dies, too, after a message. Traps that lifted code reports (signal_trap) have exact state.
 */
#include "run/client/arena.h"
#include "run/client/frame.h"
#include "run/client/quick.h"
#include "run/client/space.h"
#include "run/client/tier.h"

enum { SIGNALS = 64, SA_KERNEL_RESTORER = 0x04000000, TRAP_LENGTH = 2 /* of int n */, SYSCALL_LENGTH = 2 };

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

/* Signals that are the client's on the host, whatever the guest does with them. */
static bool is_ours(u32 sig) {
    return (faults() & bit(sig)) || (sig == TIER_SIGNAL && the.opt.tier == TIER_AUTO);
}

static void set_host_mask(u64 mask) {
    mask &= ~faults();
    sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* To this thread, with the same information; the kernel keeps it if it is blocked. */
static void send_again(Thread *t, const SignalInfo *info) {
    sys4(__NR_rt_tgsigqueueinfo, (u64)sys_getpid(), t->tid, (u64)info->number, (u64)info);
}

static u8 *held_info(Thread *t, u32 sig) {
    return t->held_info[__builtin_popcountll(faults() & (bit(sig) - 1))];
}

static void hold(Thread *t, const SignalInfo *info) {
    if (!(t->held_faults & bit((u32)info->number)))
        memcpy(held_info(t, (u32)info->number), info, sizeof(*info));
    t->held_faults |= bit((u32)info->number);
}

/* What the mask allows now comes again. */
static void release_held(Thread *t) {
    for (u64 ready; (ready = t->held_faults & ~t->blocked_faults) && !t->pending_signals;) {
        u32 sig = (u32)__builtin_ctzll(ready) + 1;
        SignalInfo info;
        memcpy(&info, held_info(t, sig), sizeof(info));
        t->held_faults &= ~bit(sig);
        send_again(t, &info);
    }
}

/* The guest's mask: faults are blocked only as far as the guest can see. */
static void set_mask(Thread *t, u64 mask) {
    t->blocked_faults = mask & faults();
    set_host_mask(mask);
    release_held(t);
}

static void set_host_default(u32 sig) {
    Action a = {0};
    sys_rt_sigaction((int)sig, &a, NULL);
}

static bool has_handler(const Thread *t, u32 sig) {
    return t->signals && t->signals->action[sig].handler > (u64)SIG_IGN;
}

static _Noreturn void die_of(int sig) {
    set_host_default((u32)sig);
    set_host_mask(0);
    sys_tgkill(sys_getpid(), sys_gettid(), sig);
    sys_exit_group(128 + sig);
}

/* The guest's mask. A signal that is noted goes back to the kernel and comes again when the mask allows it. */
static u64 put_back_pending(Thread *t, u64 host_mask) {
    if (!t->pending_signals)
        return host_mask | t->blocked_faults;
    t->pending_signals = 0;
    send_again(t, (const SignalInfo *)t->pending_info);
    return t->signal_mask;
}

/* ------------------------------------------------------------------------------------------------- interrupted quick code */

enum { FLAG_TRAP = 1 << 8, FAULT_WRITE = 2 /* of the error code */, TRAP_TRACE_CODE = 2 };

static void take_state(Thread *t, const SignalContext *s, const QuickPlace *place) {
    frame_take_general(&t->cpu, s);
    t->cpu.pc = place->pc;
    t->flags = s->rflags & ~(u64)FLAG_TRAP;
    if (place->spilled >= 0)
        memcpy(&t->cpu.gp[place->spilled], (u8 *)t + place->spill_off, 8);
}

static void stop_stepping(Thread *t, SignalContext *s) {
    t->stepping = t->redirect = false;
    s->rflags &= ~(u64)FLAG_TRAP;
}

/* The thread leaves quick code for quick_redirect. */
static void divert(Thread *t, SignalContext *s) {
    stop_stepping(t, s);
    s->rip = (u64)quick_interrupted;
}

/* Have the guest's state in the Thread as soon as possible. In C that is the case, or will be; optimised code looks for signals by
 * itself. */
static void interrupt(Thread *t, SignalContext *s) {
    QuickPlace place;
    u64 rip = quick_original(s->rip);
    bool quick = arena_holds(rip) && quick_locate(rip, &place);
    bool between = (rip >= (u64)quick_start && rip < (u64)quick_end) || (rip >= (u64)cross_start && rip < (u64)cross_end);
    if (t->redirect) /* pushf has seen our trap flag */
        *(u8 *)(s->rsp + 1) &= (u8)~(FLAG_TRAP >> 8);
    t->redirect = false;
    if (quick && place.boundary) {
        take_state(t, s, &place);
        divert(t, s);
    } else if (rip >= (u64)quick_resume && rip < (u64)quick_end) {
        divert(t, s);
    } else if (quick || between) {
        t->stepping = true;
        s->rflags |= FLAG_TRAP;
    } else {
        stop_stepping(t, s);
    }
}

/* ------------------------------------------------------------------------------------------------------ the host's side */

static void note(Thread *t, const SignalInfo *info, SignalContext *s, u64 mask) {
    t->signal_mask = mask;
    memcpy(t->pending_info, info, sizeof(t->pending_info));
    t->pending_signals = bit((u32)info->number);
    s->mask = ~faults();
}

/* The guest dies of a fault: the instruction does the same again, and for the rest of the world that is all there was. */
static void let_die(const SignalInfo *info) {
    set_host_default((u32)info->number);
    if (info->number == SIGTRAP || info->code <= 0)
        sys_tgkill(sys_getpid(), sys_gettid(), info->number);
}

/* A signal that is ours on the host, and that the guest ignores or dies of. */
static void sent_without_handler(const Thread *t, const SignalInfo *info) {
    if (!t->signals || t->signals->action[info->number].handler != (u64)SIG_IGN)
        let_die(info);
}

static void on_signal(int sig, const SignalInfo *info, SignalContext *s) {
    Thread *t = thread_self();
    if (sig == TIER_SIGNAL && tier_sent(info)) {
        t->sampled = true;
        t->repeat = s->rip == (u64)guard_syscall + SYSCALL_LENGTH && s->rax == (u64)-EINTR;
        if (!t->borrows_memory && !t->pending_signals)
            interrupt(t, s);
        return;
    }
    if (sig == TIER_SIGNAL && !has_handler(t, TIER_SIGNAL)) {
        sent_without_handler(t, info);
        return;
    }
    note(t, info, s, s->mask | t->blocked_faults);
    if (s->rip >= (u64)guard_start && s->rip <= (u64)guard_syscall)
        s->rip = (u64)guard_abort;
    else if (the.opt.tier != TIER_OPT)
        interrupt(t, s);
}

/* What is wrong with an address, in the guest's eyes. */
static i32 segv_code(u64 addr) {
    return space_prot(addr) == PROT_UNMAPPED ? SEGV_MAPERR : SEGV_ACCERR;
}

static void fault_of_guest(Thread *t, const SignalInfo *info, SignalContext *s, QuickPlace *place) {
    u32 sig = (u32)info->number;
    u64 mask = put_back_pending(t, s->mask);
    if (!has_handler(t, sig) || (mask & bit(sig))) {
        let_die(info);
        return;
    }
    if (sig == SIGTRAP) /* the CPU reports the next instruction */
        place->pc = place->next;
    take_state(t, s, place);
    t->fault_error = s->error, t->fault_trap = s->trap;
    note(t, info, s, mask);
    if (sig != SIGSEGV && sig != SIGBUS && info->address) /* of the instruction */
        ((SignalInfo *)t->pending_info)->address = place->pc;
    if (sig == SIGSEGV && info->code == SEGV_ACCERR) /* what is reserved for us is not there for the guest */
        ((SignalInfo *)t->pending_info)->code = segv_code(info->address);
    divert(t, s);
}

/* A handler that would need the exact state of the middle of optimised code. */
static void fault_without_state(const Thread *t, const SignalInfo *info) {
    if (has_handler(t, (u32)info->number))
        say("signal %d at data address %lx: handlers of faults are not supported yet", info->number, info->address);
    let_die(info);
}

/* Sent by somebody, not raised. */
static void sent_fault(Thread *t, const SignalInfo *info, SignalContext *s) {
    if (t->pending_signals || (t->blocked_faults & bit((u32)info->number)))
        hold(t, info);
    else if (has_handler(t, (u32)info->number))
        on_signal(info->number, info, s);
    else
        sent_without_handler(t, info);
}

static void on_fault(int sig, const SignalInfo *info, SignalContext *s) {
    Thread *t = thread_self();
    QuickPlace place;
    bool quick = arena_holds(s->rip) && quick_locate(s->rip - (sig == SIGTRAP && !t->stepping), &place);
    if (info->code <= 0)
        sent_fault(t, info, s);
    else if (sig == SIGSEGV && quick_original(s->rip) == (u64)quick_return_store)
        s->rip = (u64)quick_return_slow;
    else if (sig != SIGTRAP && s->rip == (u64)cross_peek)
        s->rip = (u64)cross_peeked;
    else if (sig == SIGTRAP && t->stepping && info->code == TRAP_TRACE_CODE)
        interrupt(t, s);
    else if (sig == SIGSEGV && info->code == SEGV_ACCERR && (s->error & FAULT_WRITE) && quick_written(info->address)) {
        const u8 *host = (const u8 *)s->rip;
        t->redirect = quick && host[*host == 0x66] == 0x9c;
        if (quick)
            t->stepping = true, s->rflags |= FLAG_TRAP;
    } else if (quick)
        fault_of_guest(t, info, s, &place);
    else
        fault_without_state(t, info);
}

static i64 set_host_handler(u32 sig, u64 flags) {
    bool fault = faults() & bit(sig);
    Action a = {
        .handler = fault ? (u64)on_fault : (u64)on_signal,
        .flags = (flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT)) | SA_SIGINFO | SA_ONSTACK | SA_KERNEL_RESTORER,
        .restorer = (u64)signal_restorer,
        .mask = ~(u64)0,
    };
    return sys_rt_sigaction((int)sig, &a, NULL);
}

/* ------------------------------------------------------------------------------------------------------------- handlers */

/* The thread's table, made at its first use. */
static SignalState *table_of(Thread *t) {
    if (!t->signals)
        t->signals = sys_pages(sizeof(SignalState));
    return t->signals;
}

static i64 set_action(Thread *t, u32 sig, const Action *a) {
    i64 error = 0;
    SignalState *table = table_of(t);
    if (!table)
        return -ENOMEM;
    if (!is_ours(sig))
        error = a->handler <= (u64)SIG_IGN ? sys_rt_sigaction((int)sig, a, NULL) : set_host_handler(sig, a->flags);
    else if (a->handler > (u64)SIG_IGN)
        error = set_host_handler(sig, a->flags);
    if (!error)
        table->action[sig] = *a;
    if (!error && a->handler > (u64)SIG_IGN) {
        if (faults() & bit(sig))
            tier_stop(t);
        else
            tier_use_polls(t);
    }
    return error;
}

/* The kernel writes to guest memory before we do: a bad address is its EFAULT and no fault of ours. */
i64 signal_action(Thread *t, u64 sig, u64 act, u64 old, u64 size) {
    if (size != sizeof(u64) || sig < 1 || sig > SIGNALS)
        return -EINVAL;
    Action a, before = {0};
    if (act && guest_read(act, &a, sizeof(a)) != sizeof(a))
        return -EFAULT;
    if (t->signals)
        before = t->signals->action[sig];
    if (old) {
        i64 error = sys_rt_sigaction((int)sig, NULL, (void *)old);
        if (error)
            return error;
        if (before.handler > (u64)SIG_IGN || is_ours((u32)sig))
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
        if (!is_ours(sig))
            set_host_default(sig);
    }
    set_mask(t, mask | a.mask | (a.flags & SA_NODEFER ? 0 : bit(sig)));
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
    set_mask(t, t->signal_mask);
}

void signal_return(Thread *t) {
    const SignalContext *s = frame_pop(t);
    t->altstack = s->stack;
    t->altstack_flags = s->stack_flags & (u32)SS_AUTODISARM;
    t->altstack_size = s->stack_flags & SS_DISABLE ? 0 : s->stack_size;
    set_mask(t, s->mask);
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
    case LATHE_TRAP_MISALIGNED:
        info.number = SIGBUS, info.code = BUS_ADRALN;
        break;
    case LATHE_TRAP_UNREADABLE:
        info.address = space_prot(c->pc) != PROT_UNMAPPED && (space_prot(c->pc) & PROT_EXEC) ? page_down(c->pc) + PAGE : c->pc;
        info.code = segv_code(info.address);
        break;
    case LATHE_TRAP_INTERRUPT: /* a fault, not a trap: the CPU reports the instruction itself */
        if (c->trap_info == 3)
            info.number = SIGTRAP;
        else
            c->pc -= TRAP_LENGTH;
        break;
    case LATHE_TRAP_PRIVILEGED:
    case LATHE_TRAP_ROUNDING:
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

void signal_trap(Thread *t) {
    u32 trap = t->cpu.trap;
    SignalInfo info = info_of_trap(&t->cpu);
    t->cpu.trap = LATHE_TRAP_NONE;
    u64 host_mask = 0;
    sys_rt_sigprocmask(SIG_BLOCK, NULL, &host_mask);
    u64 mask = put_back_pending(t, host_mask);
    if (!has_handler(t, (u32)info.number) || (mask & bit((u32)info.number))) {
        explain(&t->cpu, trap);
        die_of(info.number);
    }
    enter_handler(t, &info, mask);
}

/* ---------------------------------------------------------------------------------------------------------------- mask */

i64 signal_procmask(Thread *t, u64 how, u64 set, u64 old, u64 size) {
    u64 want = 0, faults_before = t->blocked_faults;
    if (size != sizeof(u64))
        return -EINVAL;
    if (set && guest_read(set, &want, sizeof(want)) != sizeof(want))
        return -EFAULT;
    u64 host = want & ~faults();
    const u64 args[6] = {how, set ? (u64)&host : 0, old, size};
    i64 error = syscall_guarded(&t->pending_signals, __NR_rt_sigprocmask, args);
    if (error)
        return error;
    if (set) {
        u64 now = how == SIG_BLOCK ? faults_before | want : how == SIG_UNBLOCK ? faults_before & ~want : want;
        t->blocked_faults = now & faults();
    }
    if (old && faults_before)
        *(u64 *)old |= faults_before;
    release_held(t);
    return 0;
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

bool signal_share(Thread *child, Thread *parent) {
    child->blocked_faults = parent->blocked_faults;
    child->signals = table_of(parent);
    return child->signals;
}

bool signal_copy(Thread *child, const Thread *parent) {
    child->blocked_faults = parent->blocked_faults;
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
    if (t->signals)
        sys_pages_free(t->signals, sizeof(*t->signals));
    t->signals = NULL;
}

void signal_init(void) {
    for (u32 sig = 1; sig <= SIGNALS; sig++)
        if (is_ours(sig))
            set_host_handler(sig, SA_RESTART);
}
