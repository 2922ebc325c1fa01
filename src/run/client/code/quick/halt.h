/* halt.h: all other threads leave translated code and wait: see halt.c. */
#ifndef RUN_CLIENT_QUICK_HALT_H
#define RUN_CLIENT_QUICK_HALT_H

#include "run/client/core/client.h"

/* What threads are halted for. Each reason has a bit in Thread.quick.stop. So has HALT_ATTEND, which halts nobody: it asks one thread to attend to
 * the debugger (core/debug.h). */
typedef enum HaltReason { HALT_RENEWAL, HALT_DEBUGGER, HALTS, HALT_ATTEND = HALTS } HaltReason;

static inline u64 halt_bit(HaltReason reason) {
    return (u64)1 << reason;
}

/* Makes every other thread of this process come to where its state is whole, and wait. Called with the arena's lock held, which is free for moments
 * meanwhile. There is one halt at a time for each reason (halt_await). A second call for the same reason halts the threads that were released since. */
void halt_all(HaltReason reason, const Thread *self);
/* Lets all go on. */
void halt_end(HaltReason reason);
/* Lets one thread go on while the others still wait. */
void halt_release(Thread *t, HaltReason reason);
/* Makes t wait with the others; it may be the thread that has halted them. */
void halt_join(Thread *t, HaltReason reason);
bool halt_is_under_way(HaltReason reason);
bool halt_is_halted(const Thread *t, HaltReason reason);
/* Sets HALT_ATTEND for a thread. May be called in a handler of signals. */
void halt_attend(Thread *t);
/* With the lock held: waits until nobody is halted for this reason. The thread that waits counts as one that has stopped. */
void halt_await(Thread *t, HaltReason reason);
/* Called by a thread that was asked to stop, with its state whole: waits as long as it is halted. A thread that is halted for the debugger comes
 * back, too, when it has to attend to it. */
void halt_wait(Thread *t);

/* True if none of the threads belongs to another process, which could not be halted. With the lock held. */
bool halt_reaches_all(void);
/* True if this signal asks the thread to stop. */
bool halt_sent(const void *info);
/* Called for a new thread; and in the child of fork, which has this thread only. */
void halt_adopt(Thread *t);
void halt_after_fork(Thread *t);

#endif
