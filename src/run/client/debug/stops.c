/* stops.c: where threads of a guest stop for a debugger, and how they go on: see core/debug.h.
 *
 * A thread stops when the guest is about to get a signal, which includes the traps of breakpoints; when a single step is done; when memory that is watched has changed; and when
 * the debugger interrupts the guest. It halts all others (code/quick/halt.h), talks with the debugger, and lets those go on that the debugger names.
 *
 * A single step is made by the host's own: its processor traps behind each of its instructions until quick code has come to the guest's next one. If quick code is left on the way,
 * for a system call or to find the target of a jump, the thread stops when it comes back. */
#include "run/client/core/debug.h"

#include "host_context.h"
#include "run/client/code/translated.h"
#include "run/client/core/events.h"
#include "run/client/debug/memory.h"
#include "run/client/debug/stub.h"
#include "run/client/debug/wire.h"
#include "run/client/memory/limits.h"

enum { OWNER_PROCESS = 1, SET_OWNER_EX = 15, SET_SIGNAL = 10, ASYNC = 020000 }; /* of fcntl */

static struct {
    bool begun;       /* the first stop, before the guest's first instruction, was reported */
    bool talking;     /* a thread talks with the debugger, and all others are halted or being halted */
    bool interrupted; /* the debugger has sent something while the guest runs */
    u8 arming;        /* only its address is used, as the mark of the signal that debug_arm sends */
} debug;

static int connection(void) {
    return (int)the.opt.debugger;
}

int *debug_descriptor(void) {
    return debug_is_active() ? (int *)&the.opt.debugger : NULL;
}

/* ------------------------------------------------------------------------------------------------------- from the debugger */

/* Makes the kernel send this process a signal, which the guest cannot block, when the debugger sends something. */
static void listen(void) {
    struct {
        i32 type, pid;
    } owner = {OWNER_PROCESS, (i32)sys_getpid()};
    i64 flags = sys_fcntl(connection(), F_GETFL, 0);
    sys_fcntl(connection(), SET_OWNER_EX, (u64)&owner);
    sys_fcntl(connection(), SET_SIGNAL, TIER_SIGNAL);
    sys_fcntl(connection(), F_SETFL, (u64)flags | ASYNC);
}

/* The connection's signals look like those of a server's connection, but with a debugger there is no server. */
bool debug_has_sent(const struct SignalInfo *info) {
    enum { CODE_POLL_FIRST = 1, CODE_POLL_LAST = 6 };
    return debug_is_active() && info->code >= CODE_POLL_FIRST && info->code <= CODE_POLL_LAST;
}

bool debug_note_message(Thread *t) {
    if (debug.talking)
        return false;
    debug.interrupted = true;
    translated_attend(t);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- stopping */

/* Waits, with the lock held, until no other thread talks, which may take as long as the debugger likes. If this thread was asked to attend to the
 * debugger meanwhile, it will do so when it talks itself. */
static void await_others(Thread *t) {
    while (debug.talking) {
        translated_unlock();
        translated_is_to_attend(t);
        translated_halt_wait(t);
        translated_lock();
    }
}

/* Halts all others. */
static void begin_talk(Thread *t) {
    translated_lock();
    await_others(t);
    debug.talking = true;
    translated_halt(t);
    translated_unlock();
}

/* Makes threads single-step that the debugger wants to make a step; if memory is watched, all threads that go on. */
static void want_steps(void) {
    for (Thread *t = the.threads; t; t = t->next) {
        t->debug.only_watches = t->debug.step == STEP_NONE;
        if (!t->debug.goes || !thread_is_of_process(t) || (t->debug.only_watches && !watch_is_on()))
            continue;
        t->debug.step = STEP_WANTED;
        translated_attend(t);
    }
}

/* The signal for something that the debugger has sent may have come while this thread talked, and was not noted then. */
static void look_again(Thread *t) {
    if (debug_is_active() && wire_has_input(connection()))
        debug_note_message(t);
}

/* Lets the threads go on that the debugger has named. */
static void end_talk(Thread *self) {
    bool all = true;
    translated_lock();
    want_steps();
    debug.talking = false;
    for (const Thread *t = the.threads; t; t = t->next)
        all &= t->debug.goes || !thread_is_of_process(t);
    for (Thread *t = the.threads; t && !all; t = t->next)
        if (t->debug.goes)
            translated_release(t);
    if (all)
        translated_halt_end();
    else if (!self->debug.goes)
        translated_halt_this(self);
    translated_unlock();
    look_again(self);
}

/* Talks with the debugger, unless it has gone since this thread began to wait for its turn. */
static void talk(Thread *t, const Stop *why) {
    if (debug_is_active())
        stub_talk(t, why);
    debug.begun = true;
}

/* True if the debugger wants to interrupt the guest. While another thread talks, what comes is for that thread. */
static bool take_interrupt(void) {
    translated_lock();
    bool taken = debug_is_active() && !debug.talking && debug.interrupted && wire_take_interrupt(connection());
    debug.interrupted &= debug.talking;
    translated_unlock();
    return taken;
}

/* Sets *why to the reason for which the thread has to stop. Returns false if there is none. */
static bool find_reason(Thread *t, Stop *why) {
    *why = (Stop){.signal = SIGTRAP};
    if (!debug.begun) {
        *why = (Stop){.signal = the.opt.by_guest ? SIGTRAP : 0, .executed = the.opt.by_guest};
        return true;
    }
    if (take_interrupt())
        why->signal = SIGINT;
    why->watched = t->debug.watched ? t->debug.watched : watch_look();
    t->debug.watched = 0;
    if (why->watched || why->signal == SIGINT || (t->debug.step == STEP_DONE && !t->debug.only_watches))
        return true;
    t->debug.step =
        t->debug.step == STEP_DONE ? STEP_WANTED : t->debug.step; /* to the next change of what is watched */
    return false;
}

static void tell(Thread *t, const Stop *why) {
    begin_talk(t);
    t->debug.signal = 0;
    talk(t, why);
    end_talk(t);
}

/* Waits if the thread is not among those that go on. Meanwhile it may be the thread that has to report an interruption. */
static void await_release(Thread *t) {
    Stop why;
    for (translated_halt_wait(t); translated_is_halted(t); translated_halt_wait(t))
        if (translated_is_to_attend(t) && find_reason(t, &why))
            tell(t, &why);
    if (t->debug.step == STEP_WANTED)
        translated_attend(t);
}

/* ------------------------------------------------------------------------------------------------------- what it is told */

void debug_begin(Thread *t) {
    if (!debug_is_active())
        return;
    i64 away = limits_dup_away(connection());
    if (away >= 0) {
        sys_close(connection());
        the.opt.debugger = (u32)away;
    }
    t->debug.goes = true;
    the.tier.no_image = true;
    listen();
    translated_attend(t);
}

void debug_attend(Thread *t) {
    Stop why;
    if (!debug_is_active() || t->debug.step == STEP_WANTED || !find_reason(t, &why))
        return;
    tell(t, &why);
    await_release(t);
}

void debug_attend_in_call(Thread *t) {
    while (translated_is_to_attend(t))
        debug_attend(t);
}

/* True for signals by which debuggers stop programs. If a debugger has gone without saying what becomes of a signal, the guest gets it, except for these. */
static bool is_debuggers(u32 sig) {
    return sig == SIGTRAP || sig == SIGINT;
}

/* True if the debugger has sent this signal to the thread itself (let_go in stub.c): then it is not reported once more. */
static bool is_given(Thread *t, u32 sig) {
    bool given = t->debug.given == sig;
    t->debug.given = given ? 0 : t->debug.given;
    return given;
}

/* A process that only shares the memory is not debugged: it goes on at breakpoints, and gets its signals. */
static bool lifts(const Stop *why, u64 at) {
    if (why->breakpoint)
        breakpoint_lift(at);
    return why->breakpoint;
}

/* At a breakpoint, moves the guest back to the instruction in whose place the breakpoint is. If another thread's stop was reported first, the
 * breakpoint may be gone by now; then there is nothing to report. */
bool debug_signal(Thread *t, struct SignalInfo *info) {
    if (!debug_is_active())
        return true;
    Stop why = {.signal = (u32)info->number, .info = info};
    u64 at = t->cpu.pc - GUEST_BREAK_BYTES;
    why.breakpoint = info->number == SIGTRAP && info->code > 0 && breakpoint_is_at(at);
    if (why.breakpoint)
        t->cpu.pc = at;
    if (!thread_is_of_process(t))
        return !lifts(&why, at);
    if (!why.breakpoint && (stub_passes(why.signal) || is_given(t, why.signal)))
        return true;
    t->debug.at_signal = true;
    begin_talk(t);
    t->debug.signal = 0;
    if (!why.breakpoint || breakpoint_is_at(at))
        talk(t, &why);
    end_talk(t);
    await_release(t);
    t->debug.at_signal = false;
    if (!debug_is_active())
        return !why.breakpoint && !is_debuggers(why.signal);
    if (t->debug.signal && t->debug.signal != why.signal)
        *info = (struct SignalInfo){.number = (i32)t->debug.signal};
    return t->debug.signal;
}

/* ------------------------------------------------------------------------------------------------------------------- steps */

bool debug_is_arming(const struct SignalInfo *info) {
    return signal_is_nudge(info, &debug.arming);
}

void debug_arm(Thread *t) {
    switch ((DebugStep)t->debug.step) {
    case STEP_NONE:
    case STEP_DONE:
        return;
    case STEP_WANTED:
    case STEP_ARMED:
        t->debug.step = STEP_ARMED;
        translated_is_to_attend(t); /* it has come here by that */
        t->quick.flags |= CONTEXT_TRAP_FLAG;
        signal_nudge(t, &debug.arming);
        return;
    case STEP_BEGUN: /* another signal than that of the step has made it come here */
        t->debug.step = STEP_DONE;
        translated_attend(t);
        return;
    }
}

bool debug_steps_on(Thread *t, bool boundary, bool outside) {
    if (t->debug.step == STEP_ARMED) {
        t->debug.step = boundary ? STEP_BEGUN : STEP_ARMED;
        return true;
    }
    if (!boundary && !outside)
        return true;
    t->debug.watched = watch_look();
    if (boundary && t->debug.only_watches && !t->debug.watched)
        return true;
    t->debug.step = STEP_DONE;
    translated_attend(t);
    return false;
}

/* -------------------------------------------------------------------------------------------------------------------- ends */

/* Tells the debugger that the program has ended. `talking` stays set, so that no other thread talks after that, or takes the debugger's answer for an
 * interruption. */
static void tell_end(Thread *t, char what, u32 number) {
    char text[8];
    if (!debug_is_active())
        return;
    translated_lock();
    await_others(t);
    debug.talking = true;
    translated_unlock();
    format_text(text, sizeof(text), "%c%02x", what, number);
    if (debug_is_active())
        stub_tell_end(text);
}

void debug_exited(Thread *t, int status) {
    tell_end(t, 'W', (u32)status & 0xff);
}

void debug_died(Thread *t, u32 sig) {
    tell_end(t, 'X', stub_number(sig));
}

void debug_after_vfork(Thread *t) {
    if (!debug_is_active() || !thread_is_of_process(t))
        return;
    translated_lock();
    await_others(t);
    debug.talking = true; /* nobody else changes breakpoints meanwhile */
    translated_unlock();
    breakpoint_put_back_all();
    debug.talking = false;
    look_again(t);
}

void debug_after_fork(void) {
    if (debug_is_active())
        stub_detach();
    debug.talking = false;
}

void debug_hand_on(bool stays) {
    if (debug_is_active())
        sys_fcntl(connection(), F_SETFD, stays ? 0 : FD_CLOEXEC);
}
