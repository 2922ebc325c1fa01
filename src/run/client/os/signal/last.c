/* last.c: signals that end a program which a tool watches, or a debugger watches or has watched.
 *
 * Without a tool, the kernel ends the program. With one, the tool's functions for the end have to be called first (LATHE_END). So the host's handler
 * for these signals is the client's: the signal is noted like one for which the guest has a handler. Where it would be delivered, the tool's
 * functions are called, and the process dies by the same signal. If that place is not reached within some seconds, because a tool's function does not
 * return, the process dies all the same. */
#include "run/client/os/signal/last.h"

#include "run/client/core/debug.h"
#include "run/client/tool/gate.h"
#include "run/client/tool/tool.h"

enum { PATIENCE_S = 3, LOOK_AGAIN_NS = 20000000, LOOKS = 10, NOTIFY_THREAD = 4 /* SIGEV_THREAD_ID */, CODE_TIMER = -2 };

typedef struct TimerEvent { /* struct sigevent */
    u64 value;
    i32 signal, notify, tid, reserved[11];
} TimerEvent;

static u64 bit(u32 sig) {
    return signal_bit(sig);
}

/* True if the signal ends a program that has no handler for it. The others are ignored by default, or stop the program; SIGKILL leaves no time for anything. */
static bool ends_programs(u32 sig) {
    u64 others = bit(SIGCHLD) | bit(SIGCONT) | bit(SIGURG) | bit(SIGWINCH) | bit(SIGSTOP) | bit(SIGTSTP) |
                 bit(SIGTTIN) | bit(SIGTTOU) | bit(SIGKILL);
    return !(others & bit(sig));
}

/* The host's handlers stay the client's after a debugger has gone. The first process of a PID namespace does not count, because it does not die of
 * signals for which it has no handlers. */
bool last_watches(u32 sig) {
    return (*the.opt.tool || the.opt.debugger_state & DEBUGGER_ONCE) && ends_programs(sig) && sys_getpid() != 1;
}

/* True for the signals by which people end a program. They want it to end even if it has handlers. */
static bool asks_to_end(u32 sig) {
    return (bit(SIGHUP) | bit(SIGINT) | bit(SIGQUIT) | bit(SIGTERM)) & bit(sig);
}

static void set_timer(Thread *t, u64 seconds, u64 ns) {
    const u64 once[4] = {0, 0, seconds, ns};
    sys4(__NR_timer_settime, (u64)(i64)t->signal.patience, 0, (u64)once, 0);
}

/* Only functions of tools may fail to come to an end. A debugger takes the time that it needs. */
void last_expect(Thread *t, u32 sig) {
    if (!*the.opt.tool || debug_is_active() || !last_watches(sig) || t->signal.impatient ||
        (signal_has_handler(t, sig) && !asks_to_end(sig)))
        return;
    TimerEvent event = {
        .value = (u64)&t->signal.patience, .signal = SIGTRAP, .notify = NOTIFY_THREAD, .tid = (i32)t->tid};
    t->signal.impatient = sys3(__NR_timer_create, CLOCK_MONOTONIC, (u64)&event, (u64)&t->signal.patience) >= 0;
    t->signal.looks = 0;
    if (t->signal.impatient)
        set_timer(t, PATIENCE_S, 0);
}

void last_came(Thread *t) {
    if (t->signal.impatient)
        sys1(__NR_timer_delete, (u64)(i64)t->signal.patience);
    t->signal.impatient = false;
}

bool last_is_overdue(const Thread *t, const SignalInfo *info) {
    u64 value = (u64)&t->signal.patience;
    return info->number == SIGTRAP && info->code == CODE_TIMER && !memcmp(info->rest, &value, sizeof(value));
}

/* The name of the tool's function that the thread is in; NULL: it is in none. If a copy of it among quick code has called a function of lathe/tool.h,
 * only that function's gate knows where it was called from. */
static const char *tool_function_of(const Thread *t, const SignalContext *s) {
    const char *function = tool_running(context_pc(s), context_sp(s));
    u64 back = gate_last_return(t);
    if (function || !back)
        return function;
    return tool_function(back) ? tool_function(back) : tool_function_inside(0);
}

/* On its way from a tool's function to one of lathe/tool.h and back the thread is in neither for some instructions, so it is looked for again. */
void last_overdue(Thread *t, const SignalContext *s) {
    if (!t->signal.impatient || !t->pending_signals)
        return;
    u32 sig = (u32)__builtin_ctzll(t->pending_signals) + 1;
    const char *function = tool_function_of(t, s);
    if (!function && t->signal.looks++ < LOOKS) {
        set_timer(t, 0, LOOK_AGAIN_NS);
        return;
    }
    if (signal_has_handler(t, sig) && !function) {
        t->signal.looks = 0;
        set_timer(t, PATIENCE_S, 0);
        return;
    }
    tool_gives_up(sig, function, PATIENCE_S);
    signal_die((int)sig);
}

void last_end(Thread *t, const SignalInfo *info) {
    tool_end(t);
    if (thread_is_of_process(t))
        debug_died(t, (u32)info->number);
    signal_die_showing(t, info);
}
