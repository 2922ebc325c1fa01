/* halt.c: makes threads leave translated code and wait, while the code that they were in is replaced (renew.c), or while a debugger looks at them.
 *
 * Each thread gets a signal that the guest cannot block, and comes to where its guest's state is whole in its Thread. A thread in a system call is
 * there already; others wait on their way from C to quick code (quick_resume looks at Thread.quick.stop). Loops of optimised code look for signals if
 * there are several threads. */
#include "run/client/code/quick/halt.h"

#include <linux/futex.h>

#include "run/client/code/arena/arena.h"
#include "run/client/core/events.h"

enum { POLL_NS = 1000000 };

/* Changed with the arena's lock held. */
static struct Halt {
    bool under_way;
    u32 turns; /* a futex that is counted up whenever a thread may go on; halted threads wait for that */
} halts[HALTS];

bool halt_sent(const void *info) {
    return signal_is_nudge(info, &halts);
}

bool halt_is_under_way(HaltReason reason) {
    return halts[reason].under_way;
}

bool halt_reaches_all(void) {
    for (const Thread *t = the.threads; t; t = t->next)
        if (!thread_is_of_process(t))
            return false;
    return true;
}

/* -------------------------------------------------------------------------------------------------------- who halts others */

static void set_bit(Thread *t, HaltReason reason) {
    __atomic_fetch_or(&t->quick.stop, halt_bit(reason), __ATOMIC_SEQ_CST);
}

/* A thread that no longer exists counts as stopped: a separate process may have been killed, or run another program by now. */
static void ask_to_stop(Thread *t, HaltReason reason) {
    set_bit(t, reason);
    if (!__atomic_load_n(&t->process.lives, __ATOMIC_ACQUIRE) || !signal_nudge(t, &halts))
        t->quick.stopped = true;
}

/* A thread that lends its memory to a vfork child sleeps in a system call and gets no signal; when that ends, it looks at Thread.quick.stop. */
static bool has_stopped(const Thread *t) {
    return __atomic_load_n(&t->quick.stopped, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&t->process.lends_memory, __ATOMIC_SEQ_CST) || !thread_is_of_process(t);
}

static bool all_stopped(void) {
    for (const Thread *t = the.threads; t; t = t->next)
        if (!has_stopped(t))
            return false;
    return true;
}

/* Asks again and again, because a signal may get lost: the guest may have sent itself the same one. In between, the lock is free for threads that
 * need it on their way to where they stop. */
void halt_all(HaltReason reason, const Thread *self) {
    static const struct timespec moment = {0, POLL_NS};
    u32 nobody = 0;
    __atomic_store_n(&halts[reason].under_way, true, __ATOMIC_SEQ_CST);
    for (Thread *t = the.threads; t; t = t->next) {
        /* The bit comes first: a signal of an earlier halt may still arrive and set `stopped`, which is right only if the thread will find the bit. */
        if (t != self && thread_is_of_process(t))
            set_bit(t, reason);
        t->quick.stopped = t == self;
    }
    while (!all_stopped()) {
        for (Thread *t = the.threads; t; t = t->next)
            if (!t->quick.stopped && thread_is_of_process(t))
                ask_to_stop(t, reason);
        arena_unlock();
        sys_futex(&nobody, FUTEX_WAIT_PRIVATE, 0, &moment);
        arena_lock();
    }
}

void halt_join(Thread *t, HaltReason reason) {
    set_bit(t, reason);
}

static void wake(HaltReason reason) {
    __atomic_fetch_add(&halts[reason].turns, 1, __ATOMIC_RELEASE);
    sys_futex(&halts[reason].turns, FUTEX_WAKE_PRIVATE, ~0u >> 1, NULL);
}

void halt_end(HaltReason reason) {
    __atomic_store_n(&halts[reason].under_way, false, __ATOMIC_SEQ_CST);
    for (Thread *t = the.threads; t; t = t->next)
        __atomic_fetch_and(&t->quick.stop, ~halt_bit(reason), __ATOMIC_SEQ_CST);
    wake(reason);
}

void halt_release(Thread *t, HaltReason reason) {
    __atomic_fetch_and(&t->quick.stop, ~halt_bit(reason), __ATOMIC_SEQ_CST);
    wake(reason);
}

/* ------------------------------------------------------------------------------------------------------------ who is halted */

typedef bool IsHalted(const Thread *t, HaltReason reason);

bool halt_is_halted(const Thread *t, HaltReason reason) {
    return __atomic_load_n(&t->quick.stop, __ATOMIC_SEQ_CST) & halt_bit(reason);
}

/* A thread that is halted for the debugger stops waiting if it has to attend to the debugger: it may be the one that gets the debugger's next message. */
static bool is_to_wait(const Thread *t, HaltReason reason) {
    return halt_is_halted(t, reason) && !(reason == HALT_DEBUGGER && halt_is_halted(t, HALT_ATTEND));
}

static bool is_anybody_halted(const Thread *t, HaltReason reason) {
    return (void)t, __atomic_load_n(&halts[reason].under_way, __ATOMIC_SEQ_CST);
}

/* Sets `stopped` in each turn of the loop: the next halt, which clears it, may begin before this thread has noticed the end of the last one. */
static void wait_while(IsHalted *halted, Thread *t, HaltReason reason) {
    for (;;) {
        u32 turn = __atomic_load_n(&halts[reason].turns, __ATOMIC_ACQUIRE);
        if (!halted(t, reason))
            return;
        __atomic_store_n(&t->quick.stopped, true, __ATOMIC_SEQ_CST);
        sys_futex(&halts[reason].turns, FUTEX_WAIT_PRIVATE, turn, NULL);
    }
}

/* A debugger may take a long time. If all threads are halted for another reason meanwhile, this one counts as stopped, like a thread in a system call. */
static void wait_for_debugger(IsHalted *halted, Thread *t) {
    bool in_call = t->process.in_call;
    __atomic_store_n(&t->process.in_call, true, __ATOMIC_SEQ_CST);
    wait_while(halted, t, HALT_DEBUGGER);
    __atomic_store_n(&t->process.in_call, in_call, __ATOMIC_SEQ_CST); /* before the next look at Thread.quick.stop */
}

static void wait_for(IsHalted *halted, Thread *t, HaltReason reason) {
    if (reason == HALT_DEBUGGER)
        wait_for_debugger(halted, t);
    else
        wait_while(halted, t, reason);
}

void halt_wait(Thread *t) {
    for (u32 reason = 0; reason < HALTS;)
        if (is_to_wait(t, (HaltReason)reason)) {
            wait_for(is_to_wait, t, (HaltReason)reason);
            reason = 0;
        } else {
            reason++;
        }
}

void halt_attend(Thread *t) {
    set_bit(t, HALT_ATTEND);
    if (halt_is_halted(t, HALT_DEBUGGER))
        wake(HALT_DEBUGGER);
}

void halt_await(Thread *t, HaltReason reason) {
    while (halts[reason].under_way) {
        arena_unlock();
        wait_for(is_anybody_halted, t, reason);
        arena_lock();
    }
}

void halt_adopt(Thread *t) {
    t->quick.stop = 0;
    for (u32 reason = 0; reason < HALTS; reason++)
        t->quick.stop |= halts[reason].under_way ? halt_bit((HaltReason)reason) : 0;
    t->quick.stopped = true;
}

void halt_after_fork(Thread *t) {
    for (u32 reason = 0; reason < HALTS; reason++)
        halts[reason].under_way = false;
    t->quick.stop = 0;
}
