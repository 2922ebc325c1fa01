/* leave.c: with --tier=opt, threads leave optimised code that is given up, because from now on code has to be of another kind or because
 * the guest's code may have changed.
 *
 * Translations that are forgotten are not found again, but threads may be inside of them, or return to them: their host stacks have a
 * frame for each call of the guest. No guest state is in those frames, so a thread leaves them all by going to the bottom of its host stack
 * as soon as its state is whole: at the end of a system call, where its code asks for other code, or at a poll of a loop, for which it gets a
 * signal. Each thread notes how old the translations are that it may be in; giving some up makes all of them too old. */
#include "run/client/code/optimised/leave.h"

#include <linux/futex.h>

#include "host_context.h"
#include "run/client/code/arena/arena.h"
#include "run/client/core/events.h"

enum { WAIT_NS = 1000000 };

void leave_give_up(void) {
    __atomic_fetch_add(&the.tier.code_age, 1, __ATOMIC_SEQ_CST);
}

/* A thread that waits (leave_wait) changes the age first and then looks at Thread.process.in_call. A thread that comes out of a system call clears
 * in_call first and then looks at the age, here. So one of the two notices the other. */
bool leave_due(const Thread *t) {
    if (!t->tier.optimised)
        return false;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return __atomic_load_n(&the.tier.code_age, __ATOMIC_SEQ_CST) != t->tier.code_age;
}

void leave_done(Thread *t) {
    do
        __atomic_store_n(&t->tier.code_age, __atomic_load_n(&the.tier.code_age, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
    while (leave_due(t));
}

/* A thread in a system call, or one that has not begun yet, looks at the age before it runs a translation. */
static bool is_out(const Thread *t) {
    u32 age = __atomic_load_n(&t->tier.code_age, __ATOMIC_SEQ_CST);
    return !__atomic_load_n(&t->tier.optimised, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&t->process.in_call, __ATOMIC_ACQUIRE) || !age || age == the.tier.code_age ||
           !__atomic_load_n(&t->process.lives, __ATOMIC_ACQUIRE);
}

/* Sends a signal to all threads that have not left. Returns true if there are some. */
static bool ask_others(const Thread *self) {
    bool any = false;
    for (Thread *t = the.threads; t; t = t->next)
        if (t != self && !is_out(t))
            any |= signal_nudge(t, &the.tier.code_age);
    return any;
}

void leave_wait(const Thread *self) {
    static const struct timespec moment = {0, WAIT_NS};
    u32 nobody = 0;
    arena_lock();
    while (ask_others(self)) {
        arena_unlock(); /* who leaves may need it on the way */
        sys_futex(&nobody, FUTEX_WAIT_PRIVATE, 0, &moment);
        arena_lock();
    }
    arena_unlock();
}

bool leave_is_asked(const SignalInfo *info) {
    return signal_is_nudge(info, &the.tier.code_age);
}
