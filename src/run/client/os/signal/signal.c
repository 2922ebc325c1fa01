/* signal.c: signals of the guest: from the host's handlers to the guest's. sigcalls.c has the system calls about them.
 *
 * A signal for which the guest has no handler is left to the host's kernel: default actions, ignored signals, masks, pending signals and
 * calls that wait for signals are the kernel's own. For a signal with a handler of the guest the host has ours (on_signal). It only notes
 * the signal, and makes the thread come soon to a place where the guest's state is complete in the Thread; there signal_deliver builds
 * the frame for the guest's handler. In quick code the state is complete between any two guest instructions: either at once, or after a
 * few single steps. Elsewhere it is complete at system calls and in the dispatcher.
 *
 * From noting to delivering the host blocks all other signals, so that a thread never has more than one signal noted and the kernel
 * queues the rest; t->signal.mask is the guest's mask meanwhile. Every system call of the guest first looks for a noted signal.
 *
 * Some signals are always the client's on the host, whether the guest has handlers for them or not, and are never blocked (signal_ours):
 * those of faults, because writes to code (code/quick/forget.c) and single steps arrive as such, and the one that tier.c uses. Whether the
 * guest blocks them is recorded in the Thread. If somebody sends such a signal while the guest blocks it, it is held in the Thread.
 *
 * A fault in quick code becomes the guest's signal, with the exact state. At a fault in optimised code only a part of the registers
 * holds the guest's state. If the guest has no handler, it dies as it should. Once it has a handler, it gets no more optimised code; with
 * --tier=opt and a guest of another kind than the host, optimised code is made anew so that a failing memory access can leave it with
 * the complete state. Traps that lifted code reports (signal_trap) have the exact state.
 */
#include "run/client/os/signal/signal.h"

#include "run/client/code/image.h"
#include "run/client/code/tier.h"
#include "run/client/code/translated.h"
#include "run/client/core/debug.h"
#include "run/client/core/events.h"
#include "run/client/core/frame.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"
#include "run/client/os/signal/last.h"
#include "run/client/tool/gate.h"
#include "run/client/tool/tool.h"

enum {
    SA_KERNEL_RESTORER = 0x04000000,
    CODE_QUEUED = -1 /* SI_QUEUE */,
    CODE_LOST = 0 /* SI_USER, from process 0 */,
    TRAP_LENGTH = 2 /* bytes of `int n` */
};

extern u8 guard_start[] __attribute__((visibility("hidden"))), guard_syscall[] __attribute__((visibility("hidden"))),
    guard_returned[] __attribute__((visibility("hidden"))), guard_abort[] __attribute__((visibility("hidden"))),
    guard_copy[] __attribute__((visibility("hidden"))), guard_copy_failed[] __attribute__((visibility("hidden"))),
    signal_restorer[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void fault_with(int sig);

static u64 bit(u32 sig) {
    return signal_bit(sig);
}

static u64 faults(void) {
    return bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP);
}

u64 signal_ours(void) {
    bool messages = the.opt.tier == TIER_AUTO || the.opt.debugger_state & DEBUGGER_ONCE;
    return faults() | (messages ? bit(TIER_SIGNAL) : 0);
}

bool signal_is_fault(u32 sig) {
    return faults() & bit(sig);
}

static void set_host_mask(u64 mask) {
    mask &= ~signal_ours();
    sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* Sends the signal to this thread again, with the same information. If it is blocked, the kernel keeps it. */
static void send_again(Thread *t, const SignalInfo *info) {
    sys4(__NR_rt_tgsigqueueinfo, (u64)sys_getpid(), t->tid, (u64)info->number, (u64)info);
}

/* ------------------------------------------------------------------------------------------------------- signals of ours */

/* If the user's limit of queued signals is reached, the kernel sends the signal without its information. So the thread has the mark, too. */
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
    u32 index = (u32)__builtin_popcountll((faults() | bit(TIER_SIGNAL)) & (bit(sig) - 1));
    return t->signal.held_info[index];
}

/* Those of the client's signals that the guest blocks now. */
static u64 blocked_now(const Thread *t) {
    return t->signal.suspended ? t->signal.suspend_mask & signal_ours() : t->signal.blocked;
}

bool signal_take_held(Thread *t, u64 set, SignalInfo *info) {
    u64 ready = t->signal.held & set;
    if (!ready)
        return false;
    u32 sig = (u32)__builtin_ctzll(ready) + 1;
    memcpy(info, held_info(t, sig), sizeof(*info));
    t->signal.held &= ~bit(sig);
    return true;
}

void signal_release_held(Thread *t) {
    SignalInfo info;
    while (!t->pending_signals && signal_take_held(t, ~blocked_now(t), &info))
        send_again(t, &info);
}

/* Puts the guest's mask into force. Until now the host has blocked everything. */
static void set_mask(Thread *t, u64 mask) {
    t->signal.blocked = mask & signal_ours();
    set_host_mask(mask);
    t->signal.masking = false;
    signal_release_held(t);
}

static void set_host_default(u32 sig) {
    Action a = {0};
    sys_rt_sigaction((int)sig, &a, NULL);
}

static bool has_handler(const Thread *t, u32 sig) {
    return t->signal.table && __atomic_load_n(&t->signal.table->action[sig].handler, __ATOMIC_RELAXED) > (u64)SIG_IGN;
}

/* Only of signals that are the client's on the host: of others, the host knows. */
static bool is_ignored(const Thread *t, u32 sig) {
    return t->signal.table && t->signal.table->action[sig].handler == (u64)SIG_IGN;
}

bool signal_restarts(const Thread *t) {
    u32 sig = (u32)__builtin_ctzll(t->pending_signals) + 1;
    return t->pending_signals && t->signal.table && t->signal.table->action[sig].flags & SA_RESTART;
}

/* The first process of a PID namespace does not die of a signal that it sends itself, so a real fault follows. Other signals stay blocked: their handlers would block
 * this one. */
_Noreturn void signal_die(int sig) {
    set_host_default((u32)sig);
    set_host_mask(~bit((u32)sig));
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

/* ------------------------------------------------------------------------------------------------- interrupted quick code */

enum { TRAP_TRACE_CODE = 2 };

static void take_state(Thread *t, const SignalContext *s, const QuickPlace *place) {
    translated_take_state(t, s, place);
    t->quick.flags = context_flags(s);
}

static void step(Thread *t, SignalContext *s) {
    t->signal.stepping = true;
    context_step(s, true);
}

static void stop_stepping(Thread *t, SignalContext *s) {
    t->signal.stepping = t->signal.pushes_flags = false;
    t->signal.steps = 0;
    context_step(s, false);
}

/* Makes the thread leave quick code; it goes on in quick_redirect. */
static void divert(Thread *t, SignalContext *s) {
    stop_stepping(t, s);
    context_set_pc(s, translated_diversion());
}

/* How often in a row a step has led to where it was from: an instruction that repeats itself takes a step for each pass. */
static u32 passes(Thread *t, const QuickPlace *place) {
    bool same = t->signal.stepping && t->signal.stepped == place->pc;
    t->signal.stepped = place->pc;
    return t->signal.passes = same ? t->signal.passes + 1 : 0;
}

static bool waits_for_thread(const Thread *t) {
    return t->pending_signals || t->quick.stop;
}

/* A tool's functions are not called again for an instruction that has begun, unless it takes too long. For a sample it is not worth it. */
static TranslatedWhere where_in_passes(Thread *t, u32 count) {
    enum { PASSES_MOST = 1000 };
    if (!count)
        return TRANSLATED_INSIDE;
    if (waits_for_thread(t))
        return count < PASSES_MOST ? TRANSLATED_INSIDE : TRANSLATED_BOUNDARY;
    t->tier.sampled = false;
    return TRANSLATED_OUTSIDE;
}

/* Whoever leaves amid instructions that a tool counts together needs new code to go on there. It is better to come to the end of them. */
static bool goes_further(Thread *t, const QuickPlace *place) {
    enum { STEPS_MOST = 40 };
    return place->amid && !place->dead && !passes(t, place) && t->signal.steps++ < STEPS_MOST;
}

/* Makes the thread come as soon as possible to a place where the guest's state is complete. C code needs nothing: the
 * state is complete there, or soon will be. Nor does optimised code, which looks for noted signals by itself. */
static void interrupt(Thread *t, SignalContext *s) {
    QuickPlace place = {0};
    TranslatedWhere where = translated_where(t, s, &place);
    if (where == TRANSLATED_INSIDE && place.begun)
        where = where_in_passes(t, passes(t, &place));
    if (t->signal.pushes_flags)
        context_clean_pushed(s);
    t->signal.pushes_flags = false;
    switch (where) {
    case TRANSLATED_BOUNDARY:
        if (goes_further(t, &place)) {
            step(t, s);
            break;
        }
        take_state(t, s, &place);
        divert(t, s);
        break;
    case TRANSLATED_RESUMING:
        divert(t, s);
        break;
    case TRANSLATED_INSIDE:
        step(t, s);
        break;
    case TRANSLATED_CALLED:
        translated_recall(t);
        stop_stepping(t, s);
        break;
    case TRANSLATED_OUTSIDE:
        stop_stepping(t, s);
        break;
    }
}

/* ------------------------------------------------------------------------------------------------------ the host's side */

static void note(Thread *t, const SignalInfo *info, SignalContext *s) {
    t->signal.mask = s->mask | t->signal.blocked;
    memcpy(t->signal.info, info, sizeof(t->signal.info));
    t->pending_signals = bit((u32)info->number);
    /* Computed jumps of optimised code see this limit and return to the dispatcher, or to quick code. */
    if (t->tier.optimised || the.opt.code.polls)
        t->stack_limit = ~(u64)0;
    s->mask = ~signal_ours();
}

/* Lets the guest die of a fault: without a handler, the instruction is executed again and faults again, which is all
 * that a parent or debugger sees. Behind a breakpoint the thread is already past the instruction, so the fault is made
 * here. */
static void let_die(const SignalInfo *info) {
    set_host_default((u32)info->number);
    if (info->code <= 0)
        sys_tgkill(sys_getpid(), sys_gettid(), info->number);
    else if (info->number == SIGTRAP)
        fault_with(SIGTRAP);
}

/* True if a system call of the guest has just ended, perhaps because of this signal. waits.c then completes it. */
static bool was_interrupted(const SignalContext *s) {
    return context_pc(s) == (u64)guard_returned;
}

/* Skips a system call of the guest that has not begun, or that the kernel is going to restart. Returns false if the
 * thread is not at one. */
static bool abort_call(SignalContext *s) {
    if (context_pc(s) < (u64)guard_start || context_pc(s) > (u64)guard_syscall)
        return false;
    context_set_pc(s, (u64)guard_abort);
    return true;
}

/* Keeps a signal that the guest blocks: for the guest it is pending and interrupts nothing, but rt_sigtimedwait and
 * others must see it, so the system call is left. */
static void hold(Thread *t, const SignalInfo *info, SignalContext *s) {
    u64 b = bit((u32)info->number);
    if (!(t->signal.held & b))
        memcpy(held_info(t, (u32)info->number), info, sizeof(*info));
    t->signal.held |= b;
    t->process.repeat |= was_interrupted(s);
    abort_call(s);
}

static void accept(Thread *t, const SignalInfo *info, SignalContext *s) {
    note(t, info, s);
    last_expect(t, (u32)info->number);
    if (!abort_call(s) && !t->tier.optimised)
        interrupt(t, s);
}

/* One of the client's signals that was sent by somebody and not raised by a fault. */
static void accept_sent(Thread *t, const SignalInfo *info, SignalContext *s) {
    if (t->pending_signals || t->signal.masking || (blocked_now(t) & bit((u32)info->number)))
        hold(t, info, s);
    else if (has_handler(t, (u32)info->number))
        accept(t, info, s);
    else if (is_ignored(t, (u32)info->number))
        return;
    else if (last_watches((u32)info->number))
        accept(t, info, s);
    else
        let_die(info);
}

static void on_sample(Thread *t, SignalContext *s) {
    t->tier.sampled = true;
    tier_note(t, context_pc(s));
    t->process.repeat |= was_interrupted(s);
    if (!t->process.borrows_memory && !t->pending_signals)
        interrupt(t, s);
}

/* The debugger has sent something. A system call that waits is left, and made again when the guest goes on. */
static void on_debugger(Thread *t, SignalContext *s) {
    t->process.repeat |= was_interrupted(s);
    if (debug_note_message(t) && !t->process.borrows_memory && !abort_call(s) && !t->pending_signals)
        interrupt(t, s);
}

static void on_signal(int sig, const SignalInfo *info, SignalContext *s) {
    Thread *t = thread_self();
    if (sig == TIER_SIGNAL && debug_has_sent(info))
        on_debugger(t, s);
    else if (sig == TIER_SIGNAL && tier_sent(info))
        on_sample(t, s);
    else if (signal_ours() & bit((u32)sig))
        accept_sent(t, info, s);
    else
        accept(t, info, s);
}

/* The si_code of a bad address, as far as the guest is concerned: the client's memory does not exist for it. */
static i32 segv_code(u64 addr) {
    return space_prot(addr) == PROT_UNMAPPED ? SEGV_MAPERR : SEGV_ACCERR;
}

/* The tool's last functions run in the host's handler. What they read of the guest may not be there, which is a fault, too. */
static void end_tool(const Thread *t) {
    u64 mask = ~faults();
    sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
    tool_end(t);
}

/* A fault of the guest in quick code. If another signal is noted, that one is delivered first; its handler returns to
 * the instruction, which faults again. */
static void fault_of_guest(Thread *t, const SignalInfo *info, SignalContext *s, QuickPlace *place) {
    u32 sig = (u32)info->number;
    translated_begun(place);
    if (t->pending_signals) {
        take_state(t, s, place);
        divert(t, s);
        return;
    }
    if (!debug_is_active() && (!has_handler(t, sig) || (t->signal.blocked & bit(sig)))) {
        translated_take_state(t, s, place);
        image_save(t);
        end_tool(t);
        let_die(info);
        return;
    }
    if (sig == SIGTRAP) /* the CPU reports the address of the next instruction */
        place->pc = place->next;
    take_state(t, s, place);
    t->signal.fault_error = s->error, t->signal.fault_trap = s->trap;
    note(t, info, s);
    if (sig != SIGSEGV && sig != SIGBUS && info->address) /* the address is that of the instruction */
        ((SignalInfo *)t->signal.info)->address = place->pc;
    if (sig == SIGSEGV && info->code == SEGV_ACCERR) /* the client's memory does not exist for the guest */
        ((SignalInfo *)t->signal.info)->code = segv_code(info->address);
    divert(t, s);
}

/* A fault in optimised code that has no exact state. The guest has no handler for it: when it installed one, all
 * threads left such code. */
static void fault_without_state(const Thread *t, const SignalInfo *info, const SignalContext *s) {
    bool handled = has_handler(t, (u32)info->number);
    bool is_float = info->number == SIGFPE && info->code != FPE_INTDIV; /* the guest's, if it asks for such faults */
    u64 pc = context_pc(s);
    const char *function = tool_inlined(info->number, info->address, pc, handled, translated_is_tools(pc));
    if (function && !is_float)
        tool_faulted(function, info->number, info->address, pc);
    if (handled)
        say("signal %d at data address %lx, where the guest's state is not known: its handler cannot run", info->number,
            info->address);
    end_tool(t);
    let_die(info);
}

/* A function of the tool's has failed, in a call of it from quick code or in a copy there, which has no name: it is not the guest that has made a
 * mistake. guest_pc: the instruction that has the copy; 0: it is not known. */
static void fault_of_tool(const Thread *t, const SignalInfo *info, const SignalContext *s, u64 guest_pc) {
    const char *function = tool_running(context_pc(s), context_sp(s));
    if (!function)
        function = tool_function(gate_last_return(t));
    tool_faulted(function ? function : tool_function_inside(guest_pc), info->number, info->address, context_pc(s));
}

/* A fault in optimised code at a memory access that has an exit. The thread goes on at the exit, which leads to
 * signal_trap. */
static void fault_of_access(Thread *t, const SignalInfo *info, SignalContext *s, u64 exit) {
    SignalInfo copy = *info;
    if (info->number == SIGSEGV && info->code == SEGV_ACCERR)
        copy.code = segv_code(info->address);
    memcpy(t->signal.access_info, &copy, sizeof(copy));
    t->signal.fault_error = s->error, t->signal.fault_trap = s->trap;
    context_set_pc(s, exit);
}

/* Another thread has asked this one to leave translated code. Loops of optimised code look for noted signals, so this
 * one is noted. */
static void on_stop(Thread *t, const SignalInfo *info, SignalContext *s) {
    t->process.repeat |= was_interrupted(s);
    if (t->process.in_call) {
        __atomic_store_n(&t->quick.stopped, true, __ATOMIC_RELEASE);
        return;
    }
    if (the.opt.code.polls && !t->pending_signals && !t->signal.masking)
        note(t, info, s);
    interrupt(t, s);
}

/* Another thread has asked this one to leave optimised code. Its loops look for noted signals, so this one is noted. */
static void on_leave(Thread *t, const SignalInfo *info, SignalContext *s) {
    t->process.repeat |= was_interrupted(s);
    if (!t->process.in_call && !t->pending_signals && !t->signal.masking && translated_is_given_up(t))
        note(t, info, s);
}

/* The host has made one of the steps that lead to the guest's next instruction. */
static void step_for_debugger(Thread *t, SignalContext *s) {
    QuickPlace place = {0};
    TranslatedWhere where = translated_where(t, s, &place);
    bool boundary = where == TRANSLATED_BOUNDARY;
    if (t->signal.pushes_flags)
        context_clean_pushed(s);
    t->signal.pushes_flags = false;
    if (debug_steps_on(t, boundary, where == TRANSLATED_OUTSIDE)) {
        t->signal.pushes_flags = boundary && context_pushes_flags(s);
        step(t, s);
    } else if (boundary) {
        take_state(t, s, &place);
        divert(t, s);
    } else {
        stop_stepping(t, s);
    }
}

/* The guest has written to memory with code, which is forgotten. A thread whose own block was among that leaves it behind the write. */
static void leave_if_forgotten(Thread *t, SignalContext *s) {
    QuickPlace place;
    if (!translated_locate(context_pc(s), &place) || !place.dead)
        return;
    t->signal.pushes_flags = context_pushes_flags(s);
    step(t, s);
}

static void on_fault(int sig, const SignalInfo *info, SignalContext *s) {
    Thread *t = thread_self();
    QuickPlace place;
    u64 pc = context_pc(s);
    bool quick = translated_locate(pc - (sig == SIGTRAP && !t->signal.stepping), &place);
    u64 exit = quick ? 0 : translated_access_exit(pc);
    if (debug_is_arming(info))
        step(t, s);
    else if (sig == SIGTRAP && info->code == TRAP_TRACE_CODE && t->debug.step)
        step_for_debugger(t, s);
    else if (translated_is_stop(info))
        on_stop(t, info, s);
    else if (translated_is_leave(info))
        on_leave(t, info, s);
    else if (last_is_overdue(t, info))
        last_overdue(t, s);
    else if (info->code <= 0)
        accept_sent(t, info, s);
    else if (pc == (u64)guard_copy)
        context_set_pc(s, (u64)guard_copy_failed);
    else if (sig != SIGTRAP && translated_detour(s))
        return;
    else if (sig == SIGTRAP && ((t->signal.stepping && info->code == TRAP_TRACE_CODE) || translated_is_recalled(t, s)))
        interrupt(t, s);
    else if (sig == SIGSEGV && info->code == SEGV_ACCERR && context_is_write(s) && translated_written(info->address)) {
        leave_if_forgotten(t, s);
    } else if (quick ? place.of_tool : tool_stack_holds(t, context_sp(s)))
        fault_of_tool(t, info, s, quick ? place.pc : 0);
    else if (quick)
        fault_of_guest(t, info, s, &place);
    else if (exit)
        fault_of_access(t, info, s, exit);
    else if (t->signal.framing)
        last_end(t, SIGSEGV);
    else if (tool_running(pc, context_sp(s)))
        tool_faulted(tool_running(pc, context_sp(s)), sig, info->address, pc);
    else
        fault_without_state(t, info, s);
}

/* For the client's signals SA_RESTART is left out: system calls that they interrupt must return to waits.c, which knows
 * better than the kernel how to go on. */
i64 signal_set_host_handler(u32 sig, u64 flags) {
    u64 handed_on = SA_NOCLDSTOP | SA_NOCLDWAIT | (signal_ours() & bit(sig) ? 0 : SA_RESTART);
    Action a = {
        .handler = signal_is_fault(sig) ? (u64)on_fault : (u64)on_signal,
        .flags = (flags & handed_on) | SA_SIGINFO | SA_ONSTACK | SA_KERNEL_RESTORER,
        .restorer = (u64)signal_restorer,
        .mask = ~(u64)0,
    };
    return sys_rt_sigaction((int)sig, &a, NULL);
}

/* --------------------------------------------------------------------------------------------------------- delivery */

/* Makes the guest go on in its handler. mask: the mask that the handler returns to. During sigsuspend and similar calls
 * this is not the mask in force. */
static void enter_handler(Thread *t, const SignalInfo *info, const Action *a, u64 mask) {
    u32 sig = (u32)info->number;
    u64 now = t->signal.suspended ? t->signal.suspend_mask : mask;
    tool_call(LATHE_SIGNAL, &(ToolEvent){.pc = t->cpu.pc, .number = sig});
    t->tool.known = 0;
    bool switch_stack = (a->flags & SA_ONSTACK) && t->signal.altstack_size && !signal_on_altstack(t);
    t->signal.framing = true;
    bool pushed = frame_push(t, info, mask, a->handler, a->restorer,
                             switch_stack ? t->signal.altstack + t->signal.altstack_size : 0);
    t->signal.framing = false;
    if (!pushed)
        last_end(t, SIGSEGV); /* as the kernel does */
    if (t->signal.altstack_flags & SS_AUTODISARM)
        t->signal.altstack = t->signal.altstack_size = t->signal.altstack_flags = 0;
    t->signal.suspended = false;
    set_mask(t, now | a->mask | (a->flags & SA_NODEFER ? 0 : bit(sig)));
}

/* Gets the guest's handler, and removes it if it has SA_RESETHAND. Returns false if there is no handler (any more). */
static bool take_action(Thread *t, u32 sig, Action *a) {
    if (!t->signal.table)
        return false;
    lock(&t->signal.table->lock);
    *a = t->signal.table->action[sig];
    bool found = a->handler > (u64)SIG_IGN;
    if (found && (a->flags & SA_RESETHAND)) {
        t->signal.table->action[sig].handler = 0;
        if (!(signal_ours() & bit(sig)) && !last_watches(sig))
            sys_rt_sigaction((int)sig, &t->signal.table->action[sig], NULL);
    }
    unlock(&t->signal.table->lock);
    return found;
}

void signal_deliver(Thread *t) {
    if (!t->pending_signals)
        return;
    SignalInfo info;
    Action a = {0};
    memcpy(&info, t->signal.info, sizeof(info));
    t->signal.masking = true; /* the host blocks everything but the client's signals */
    t->pending_signals = 0;
    t->stack_limit = thread_stack_limit(t);
    last_came(t);
    /* The signal was only to make the thread come here. */
    if (translated_is_leave(&info) || translated_is_stop(&info)) {
        set_mask(t, t->signal.mask);
        return;
    }
    if (!debug_signal(t, &info)) {
        set_mask(t, t->signal.mask);
        return;
    }
    if (take_action(t, (u32)info.number, &a)) {
        enter_handler(t, &info, &a, t->signal.mask);
        return;
    }
    /* The guest has no handler, or has removed it since. The host does what the signal does without one. */
    t->signal.suspended = false;
    if (last_watches((u32)info.number) && !a.handler) {
        set_mask(t, t->signal.mask); /* another signal can end it if the tool does not come to an end */
        last_end(t, (u32)info.number);
    }
    send_again(t, &info);
    set_mask(t, t->signal.mask);
}

i64 signal_return(Thread *t) {
    FrameFacts facts = frame_look(t);
    i64 error = signal_change_mask(t, SIG_SETMASK, &facts.mask, NULL);
    if (error)
        return error;
    frame_pop(t);
    t->tool.known = 0;
    t->signal.altstack = facts.stack.base;
    t->signal.altstack_flags = facts.stack.flags;
    t->signal.altstack_size = facts.stack.flags & SS_DISABLE ? 0 : facts.stack.size;
    signal_release_held(t);
    return SYSCALL_NO_RESULT;
}

/* ------------------------------------------------------------------------------------------------------------ traps */

static SignalInfo info_of_trap(const Thread *t, GuestCpu *c) {
    SignalInfo info = {.number = SIGSEGV, .code = SI_KERNEL};
    switch ((LatheTrap)c->trap) {
    case LATHE_TRAP_DIVIDE:
        info.number = SIGFPE, info.code = FPE_INTDIV, info.address = c->pc;
        break;
    case LATHE_TRAP_UNSUPPORTED:
    case LATHE_TRAP_UNDEFINED:
        info.number = SIGILL, info.code = guest_facts.illegal_code, info.address = c->pc;
        break;
    case LATHE_TRAP_BREAK:
        info.number = SIGTRAP, info.code = guest_facts.break_code;
        info.address = info.code == SI_KERNEL ? 0 : c->pc;
        break;
    case LATHE_TRAP_MISALIGNED:
        info.number = SIGBUS, info.code = BUS_ADRALN;
        break;
    case LATHE_TRAP_UNREADABLE:
        info.address =
            space_prot(c->pc) != PROT_UNMAPPED && (space_prot(c->pc) & PROT_EXEC) ? page_down(c->pc) + PAGE : c->pc;
        info.code = segv_code(info.address);
        break;
    case LATHE_TRAP_FAULT:
        memcpy(&info, t->signal.access_info, sizeof(info));
        break;
    case LATHE_TRAP_INTERRUPT: /* a fault, not a trap: the address is that of the instruction itself */
        if (c->trap_info == 3)
            info.number = SIGTRAP;
        else
            c->pc -= TRAP_LENGTH;
        break;
    case LATHE_TRAP_PRIVILEGED:
    case LATHE_TRAP_INSIDE:
    case LATHE_TRAP_ROUNDING:
    case LATHE_TRAP_SYSCALL:
    case LATHE_TRAP_NONE:
        break;
    }
    return info;
}

static void explain_unsupported(const GuestCpu *c) {
    u8 bytes[8] = {0};
    char text[64] = "";
    guest_describe(bytes, guest_read(c->pc, bytes, sizeof(bytes)), text, sizeof(text));
    say("an instruction that is not supported, at %lx: %s", c->pc, text);
}

/* Moves pc back to the instruction that has trapped. */
static void undo_trap(GuestCpu *c) {
    c->pc -= c->trap == LATHE_TRAP_INTERRUPT ? TRAP_LENGTH : c->trap == LATHE_TRAP_BREAK ? GUEST_BREAK_BYTES : 0;
    c->trap = LATHE_TRAP_NONE;
}

/* Blocks all signals and returns the host's mask. A signal may have been noted just before, but no further one comes. */
static u64 block_all(Thread *t) {
    u64 all = ~signal_ours(), host_mask = 0;
    t->signal.masking = true;
    sys_rt_sigprocmask(SIG_SETMASK, &all, &host_mask);
    return host_mask;
}

/* With a debugger, every signal is looked at where it is delivered. */
static bool is_handled(const Thread *t, u32 sig, u64 mask) {
    return (has_handler(t, sig) && !(mask & bit(sig))) || debug_is_active();
}

static void note_forced(Thread *t, const SignalInfo *info, u64 mask) {
    if (!is_handled(t, (u32)info->number, mask)) {
        image_save(t);
        last_end(t, (u32)info->number);
    }
    t->signal.mask = mask;
    memcpy(t->signal.info, info, sizeof(*info));
    t->pending_signals = bit((u32)info->number);
}

bool signal_force(Thread *t, const SignalInfo *info) {
    u64 mask = block_all(t) | t->signal.blocked;
    if (t->pending_signals)
        return false;
    note_forced(t, info, mask);
    return true;
}

/* If another signal is noted, it is delivered first, and the instruction traps again after its handler. */
void signal_trap(Thread *t) {
    if (t->cpu.trap == LATHE_TRAP_INTERRUPT && guest_interrupt(t))
        return;
    u64 mask = block_all(t) | t->signal.blocked;
    if (t->pending_signals) {
        undo_trap(&t->cpu);
        signal_deliver(t);
        return;
    }
    u32 trap = t->cpu.trap;
    SignalInfo info = info_of_trap(t, &t->cpu);
    t->cpu.trap = LATHE_TRAP_NONE;
    if (trap == LATHE_TRAP_UNSUPPORTED && !is_handled(t, (u32)info.number, mask))
        explain_unsupported(&t->cpu);
    note_forced(t, &info, mask);
    signal_deliver(t);
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
        if ((signal_ours() & bit(sig)) && t->signal.table && t->signal.table->action[sig].handler == (u64)SIG_IGN)
            sys_rt_sigaction((int)sig, &ignore, NULL);
    if (t->signal.blocked)
        sys_rt_sigprocmask(SIG_BLOCK, &t->signal.blocked, NULL);
    while (signal_take_held(t, t->signal.blocked, &info))
        send_again(t, &info);
}

void signal_after_exec(Thread *t) {
    for (u32 sig = 1; sig <= SIGNALS; sig++)
        if ((signal_ours() & bit(sig)) && t->signal.table && t->signal.table->action[sig].handler == (u64)SIG_IGN)
            signal_set_host_handler(sig, 0);
    if (t->signal.blocked)
        sys_rt_sigprocmask(SIG_UNBLOCK, &t->signal.blocked, NULL);
}

/* What the program is told to ignore when it begins, it ignores. */
static void watch_last(Thread *t) {
    Action a;
    for (u32 sig = 1; sig <= SIGNALS; sig++)
        if (last_watches(sig) && !(signal_ours() & bit(sig)) && !sys_rt_sigaction((int)sig, NULL, &a) && !a.handler)
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
        if (!(signal_ours() & bit(sig)))
            continue;
        sys_rt_sigaction((int)sig, NULL, &a);
        if (a.handler == (u64)SIG_IGN && signal_table(t))
            t->signal.table->action[sig] = a;
        signal_set_host_handler(sig, 0);
    }
    watch_last(t);
    set_host_mask(mask);
}
