/* deliver.c: makes the guest go on in its handler for a signal that was noted, or ends the process if it has none; and turns traps that translated
 * code reports into signals. See signal.c for the whole picture. */
#include "run/client/os/signal/signal.h"

#include "run/client/code/image.h"
#include "run/client/code/translated.h"
#include "run/client/core/debug.h"
#include "run/client/core/events.h"
#include "run/client/memory/space.h"
#include "run/client/os/signal/last.h"
#include "run/client/tool/tool.h"

enum { TRAP_LENGTH = 2 /* bytes of `int n` */ };

/* --------------------------------------------------------------------------------------------------------- delivery */

/* Makes the guest go on in its handler. mask: the mask that the handler returns to. During sigsuspend and similar calls
 * this is not the mask in force. */
static void enter_handler(Thread *t, const SignalInfo *info, const Action *a, u64 mask) {
    u32 sig = (u32)info->number;
    u64 now = t->signal.suspended ? t->signal.suspend_mask : mask;
    tool_call(LATHE_SIGNAL, &(ToolEvent){.pc = t->cpu.pc, .target = a->handler, .number = sig});
    t->tool.known = 0;
    bool switch_stack = (a->flags & SA_ONSTACK) && t->signal.altstack_size && !signal_on_altstack(t);
    t->signal.framing = true;
    bool pushed = frame_push(t, info, mask, a->handler, a->restorer,
                             switch_stack ? t->signal.altstack + t->signal.altstack_size : 0);
    t->signal.framing = false;
    if (!pushed)
        last_end(t, &(SignalInfo){.number = SIGSEGV, .code = SI_KERNEL}); /* as the kernel does */
    if (t->signal.altstack_flags & SS_AUTODISARM)
        t->signal.altstack = t->signal.altstack_size = t->signal.altstack_flags = 0;
    t->signal.suspended = false;
    signal_set_mask(t, now | a->mask | (a->flags & SA_NODEFER ? 0 : signal_bit(sig)));
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
        if (!(signal_ours() & signal_bit(sig)) && !last_watches(sig))
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
        signal_set_mask(t, t->signal.mask);
        return;
    }
    if (!debug_signal(t, &info)) {
        signal_set_mask(t, t->signal.mask);
        return;
    }
    if (take_action(t, (u32)info.number, &a)) {
        enter_handler(t, &info, &a, t->signal.mask);
        return;
    }
    /* The guest has no handler, or has removed it since. The host does what the signal does without one. */
    t->signal.suspended = false;
    if (last_watches((u32)info.number) && !a.handler) {
        signal_set_mask(t, t->signal.mask); /* another signal can end it if the tool does not come to an end */
        last_end(t, &info);
    }
    signal_send_again(t, &info);
    signal_set_mask(t, t->signal.mask);
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
        info.code = signal_segv_code(info.address);
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
    return (signal_has_handler(t, sig) && !(mask & signal_bit(sig))) || debug_is_active();
}

static void note_forced(Thread *t, const SignalInfo *info, u64 mask) {
    if (!is_handled(t, (u32)info->number, mask)) {
        image_save(t);
        last_end(t, info);
    }
    t->signal.mask = mask;
    memcpy(t->signal.info, info, sizeof(*info));
    t->pending_signals = signal_bit((u32)info->number);
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
