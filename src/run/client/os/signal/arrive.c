/* arrive.c: the host's signal handlers: on_fault for the signals that faults raise, on_signal for all others. See signal.c for the whole picture.
 *
 * A handler finds out what the signal is: one of the client's own (a sample, a request to stop, a single step), a fault of the guest, of a tool's
 * function or of the client, or a signal that somebody has sent. A signal that is the guest's is noted in the Thread, and the thread is made to come
 * soon to where the guest's state is complete (interrupt). */
#include "run/client/os/signal/signal.h"

#include "run/client/code/image.h"
#include "run/client/code/tier.h"
#include "run/client/code/translated.h"
#include "run/client/core/debug.h"
#include "run/client/core/events.h"
#include "run/client/memory/cores.h"
#include "run/client/memory/space.h"
#include "run/client/os/signal/last.h"
#include "run/client/tool/gate.h"
#include "run/client/tool/tool.h"

enum {
    SA_KERNEL_RESTORER = 0x04000000,
    CODE_SENT = -6 /* SI_TKILL */,
    SENDER_AT = 16 /* of its pid and uid in siginfo */,
    REALTIME = 32
};

extern u8 guard_start[] __attribute__((visibility("hidden"))), guard_syscall[] __attribute__((visibility("hidden"))),
    guard_returned[] __attribute__((visibility("hidden"))), guard_abort[] __attribute__((visibility("hidden"))),
    guard_copy[] __attribute__((visibility("hidden"))), guard_copy_failed[] __attribute__((visibility("hidden"))),
    signal_entry[] __attribute__((visibility("hidden"))), signal_restorer[] __attribute__((visibility("hidden")));

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

/* Counts the single steps in a row that have ended at the same instruction: a repeated string instruction takes one step for each pass. */
static u32 passes(Thread *t, const QuickPlace *place) {
    bool same = t->signal.stepping && t->signal.stepped == place->pc;
    t->signal.stepped = place->pc;
    return t->signal.passes = same ? t->signal.passes + 1 : 0;
}

static bool waits_for_thread(const Thread *t) {
    return t->pending_signals || t->quick.stop;
}

/* What to do with a thread in a repeated instruction for which a tool's functions were called already. If the thread left in the middle, they would
 * be called a second time when it comes back. So a signal waits for the instruction's end, but not for more than PASSES_MOST passes; a sample is
 * dropped. */
static TranslatedWhere where_in_passes(Thread *t, u32 count) {
    enum { PASSES_MOST = 1000 };
    if (!count)
        return TRANSLATED_INSIDE;
    if (waits_for_thread(t))
        return count < PASSES_MOST ? TRANSLATED_INSIDE : TRANSLATED_BOUNDARY;
    t->tier.sampled = false;
    return TRANSLATED_OUTSIDE;
}

/* True if the thread should make another step although its state is complete. A thread that leaves in the middle of instructions that a tool counts
 * together needs new code to go on there, so it is better to step to the end of them. */
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
    t->pending_signals = signal_bit((u32)info->number);
    /* Computed jumps of optimised code see this limit and return to the dispatcher, or to quick code. */
    if (t->tier.optimised || the.opt.code.polls)
        t->stack_limit = ~(u64)0;
    s->mask = ~signal_ours();
}

/* Lets the guest die of a fault: without a handler, the instruction is executed again and faults again, which is all
 * that a parent or debugger sees. Two faults are made here: behind a breakpoint the thread is already past the instruction;
 * and what on_fault has taken for a SIGSEGV would be a SIGBUS again. */
static void let_die(const SignalInfo *info, const SignalContext *s) {
    signal_set_host_default((u32)info->number);
    if (info->code <= 0)
        sys_tgkill(sys_getpid(), sys_gettid(), info->number);
    else if (info->number == SIGTRAP || (info->number == SIGSEGV && context_is_stack_fault(s)))
        fault_with(info->number);
}

/* Lets the guest die as let_die does, with its own registers in those of the host, for core files: by a signal that is sent here, where it is blocked, and comes before the thread's next instruction.
 * The first process of a PID namespace does not die of signals that it sends itself. */
static bool die_by_sent(const Thread *t, const SignalInfo *info, SignalContext *s) {
    u32 sig = (u32)info->number;
    const u64 all = ~(u64)0;
    if (sys_getpid() == 1 || !frame_show(t, s))
        return false;
    sys_rt_sigprocmask(SIG_SETMASK, &all, NULL);
    cores_hide_client();
    signal_set_host_default(sig);
    s->mask &= ~signal_bit(sig);
    return !sys4(__NR_rt_tgsigqueueinfo, (u64)sys_getpid(), (u64)sys_gettid(), sig, (u64)info);
}

/* The mark of the signal by which a thread comes here to die as t->signal.info says, and the signals that have core files. */
static u8 dying;

static bool has_core(u32 sig) {
    u64 some =
        signal_bit(SIGQUIT) | signal_bit(SIGABRT) | signal_bit(SIGXCPU) | signal_bit(SIGXFSZ) | signal_bit(SIGSYS);
    return sig && sig < REALTIME && (some | signal_faults()) & signal_bit(sig);
}

/* The guest's state is complete. */
static void die_soon(Thread *t, const SignalInfo *info) {
    memcpy(t->signal.info, info, sizeof(*info));
    signal_nudge(t, &dying);
}

static bool is_host_default(u32 sig) {
    Action a = {.handler = (u64)SIG_IGN};
    return !sys_rt_sigaction((int)sig, NULL, &a) && a.handler == (u64)SIG_DFL;
}

static bool is_unblocked(u32 sig) {
    u64 mask = ~(u64)0;
    return !sys_rt_sigprocmask(SIG_BLOCK, NULL, &mask) && !(mask & signal_bit(sig));
}

/* Signals of faults have handlers on the host. They are left to these. */
void signal_end_by_guest(Thread *t, u32 sig) {
    if (!has_core(sig) || t->process.borrows_memory || !is_host_default(sig) || !is_unblocked(sig))
        return;
    SignalInfo info = {.number = (i32)sig, .code = CODE_SENT};
    const u32 sender[] = {t->pid, (u32)sys_getuid()};
    memcpy((u8 *)&info + SENDER_AT, sender, sizeof(sender));
    guest_set_result(&t->cpu, 0);
    die_soon(t, &info);
}

void signal_die_showing(Thread *t, const SignalInfo *info) {
    die_soon(t, info);
    signal_die(info->number);
}

static void on_dying(const Thread *t, SignalContext *s) {
    const SignalInfo *info = (const SignalInfo *)t->signal.info;
    if (!die_by_sent(t, info, s))
        signal_die(info->number);
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
    signal_hold(t, info);
    t->process.repeat |= was_interrupted(s);
    abort_call(s);
}

static void accept(Thread *t, const SignalInfo *info, SignalContext *s) {
    note(t, info, s);
    last_expect(t, (u32)info->number);
    if (!abort_call(s) && !t->tier.optimised)
        interrupt(t, s);
}

/* Only of signals that are the client's on the host: of others, the host knows. */
static bool is_ignored(const Thread *t, u32 sig) {
    return t->signal.table && t->signal.table->action[sig].handler == (u64)SIG_IGN;
}

/* Handles a signal in signal_ours() that somebody has sent to the guest. */
static void accept_sent(Thread *t, const SignalInfo *info, SignalContext *s) {
    if (t->pending_signals || t->signal.masking || (signal_blocked_now(t) & signal_bit((u32)info->number)))
        hold(t, info, s);
    else if (signal_has_handler(t, (u32)info->number))
        accept(t, info, s);
    else if (is_ignored(t, (u32)info->number))
        return;
    else if (last_watches((u32)info->number))
        accept(t, info, s);
    else
        let_die(info, s);
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
    else if (signal_ours() & signal_bit((u32)sig))
        accept_sent(t, info, s);
    else
        accept(t, info, s);
}

i32 signal_segv_code(u64 addr) {
    return space_prot(addr) == PROT_UNMAPPED ? SEGV_MAPERR : SEGV_ACCERR;
}

/* Runs the tool's functions for the end of the program, in the host's handler. Signals of faults are let through meanwhile: these functions may read
 * guest memory that is not there. */
static void end_tool(const Thread *t) {
    u64 mask = ~signal_faults();
    sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
    tool_end(t);
}

static SignalInfo seen_by_guest(const SignalInfo *info, const QuickPlace *place) {
    SignalInfo seen = *info;
    if (info->number != SIGSEGV && info->number != SIGBUS && info->address) /* the address is that of the instruction */
        seen.address = place->pc;
    if (info->number == SIGSEGV && info->code == SEGV_ACCERR) /* the client's memory does not exist for the guest */
        seen.code = signal_segv_code(info->address);
    return seen;
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
    if (sig == SIGTRAP) /* the CPU reports the address of the next instruction */
        place->pc = place->next;
    if (!debug_is_active() && (!signal_has_handler(t, sig) || (t->signal.blocked & signal_bit(sig)))) {
        translated_take_state(t, s, place);
        image_save(t);
        end_tool(t);
        SignalInfo seen = seen_by_guest(info, place);
        if (!die_by_sent(t, &seen, s))
            let_die(info, s);
        return;
    }
    take_state(t, s, place);
    t->signal.fault_error = context_error(s), t->signal.fault_trap = context_trap(s);
    SignalInfo seen = seen_by_guest(info, place);
    note(t, &seen, s);
    divert(t, s);
}

/* A fault in optimised code that has no exact state. The guest has no handler for it: when it installed one, all
 * threads left such code. */
static void fault_without_state(const Thread *t, const SignalInfo *info, const SignalContext *s) {
    bool handled = signal_has_handler(t, (u32)info->number);
    bool is_float = info->number == SIGFPE && info->code != FPE_INTDIV; /* the guest's, if it asks for such faults */
    u64 pc = context_pc(s);
    const char *function = tool_inlined(info->number, info->address, pc, handled, translated_is_tools(pc));
    if (function && !is_float)
        tool_faulted(function, info->number, info->address, pc);
    if (handled)
        say("signal %d at data address %lx, where the guest's state is not known: its handler cannot run", info->number,
            info->address);
    end_tool(t);
    let_die(info, s);
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
        copy.code = signal_segv_code(info->address);
    memcpy(t->signal.access_info, &copy, sizeof(copy));
    t->signal.fault_error = context_error(s), t->signal.fault_trap = context_trap(s);
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

/* The guest has written to a page with code, whose blocks are forgotten now. If the writing instruction is itself in such a block, single-steps over
 * it, so that the thread leaves the block behind the write. */
static void leave_if_forgotten(Thread *t, SignalContext *s) {
    QuickPlace place;
    if (!translated_locate(context_pc(s), &place) || !place.dead)
        return;
    t->signal.pushes_flags = context_pushes_flags(s);
    step(t, s);
}

static void on_fault(int sig, SignalInfo *info, SignalContext *s) {
    Thread *t = thread_self();
    if (sig == SIGBUS && !guest_facts.is_hosts && info->code > 0 && context_is_stack_fault(s))
        sig = info->number = SIGSEGV; /* which of the two it is depends on the host's registers, not on the guest's */
    QuickPlace place;
    u64 pc = context_pc(s);
    bool quick = translated_locate(pc - (sig == SIGTRAP && !t->signal.stepping), &place);
    u64 exit = quick ? 0 : translated_access_exit(pc);
    if (debug_is_arming(info))
        step(t, s);
    else if (signal_is_nudge(info, &dying))
        on_dying(t, s);
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
        last_end(t, &(SignalInfo){.number = SIGSEGV, .code = SI_KERNEL});
    else if (tool_running(pc, context_sp(s)))
        tool_faulted(tool_running(pc, context_sp(s)), sig, info->address, pc);
    else
        fault_without_state(t, info, s);
}

/* Called by signal_entry. */
__attribute__((visibility("hidden"))) void signal_arrives(int sig, SignalInfo *info, SignalContext *s) {
    if (signal_is_fault((u32)sig))
        on_fault(sig, info, s);
    else
        on_signal(sig, info, s);
}

/* For the client's signals SA_RESTART is left out: system calls that they interrupt must return to waits.c, which knows
 * better than the kernel how to go on. */
i64 signal_set_host_handler(u32 sig, u64 flags) {
    u64 handed_on = SA_NOCLDSTOP | SA_NOCLDWAIT | (signal_ours() & signal_bit(sig) ? 0 : SA_RESTART);
    Action a = {
        .handler = (u64)signal_entry,
        .flags = (flags & handed_on) | SA_SIGINFO | SA_ONSTACK | SA_KERNEL_RESTORER,
        .restorer = (u64)signal_restorer,
        .mask = ~(u64)0,
    };
    return sys_rt_sigaction((int)sig, &a, NULL);
}
