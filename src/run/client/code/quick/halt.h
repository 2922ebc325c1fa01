/* halt.h: all other threads leave translated code and wait: see halt.c. */
#ifndef RUN_CLIENT_QUICK_HALT_H
#define RUN_CLIENT_QUICK_HALT_H

#include "run/client/core/client.h"

/* What threads are halted for. Each has a bit in Thread.quick.stop, and so has HALT_ATTEND: this thread alone is to ask the debugger (core/debug.h). */
typedef enum HaltReason { HALT_RENEWAL, HALT_DEBUGGER, HALTS, HALT_ATTEND = HALTS } HaltReason;

static inline u64 halt_bit(HaltReason reason) {
    return (u64)1 << reason;
}

/* With the arena's lock held, before and after, but not meanwhile: every other thread of this process comes to where its state is whole, and waits.
 * For one reason at a time: see halt_await. A second call for the same reason halts those that were released. */
void halt_all(HaltReason reason, const Thread *self);
/* They go on. */
void halt_end(HaltReason reason);
/* This one goes on, though the others still wait. */
void halt_release(Thread *t, HaltReason reason);
/* This one, which may have halted the others, is halted as they are. */
void halt_join(Thread *t, HaltReason reason);
bool halt_is_under_way(HaltReason reason);
bool halt_is_halted(const Thread *t, HaltReason reason);
/* HALT_ATTEND. Also in a handler of signals. */
void halt_attend(Thread *t);
/* With the lock held: waits until nobody is halted for this reason. The thread that waits counts as one that has stopped. */
void halt_await(Thread *t, HaltReason reason);
/* The thread was asked to stop, and its state is whole: it waits as long as it is halted; if that is for the debugger, until it is to attend to that. */
void halt_wait(Thread *t);

/* True if none of the threads belongs to another process, which could not be halted. With the lock held. */
bool halt_reaches_all(void);
/* The signal that asks a thread to stop. */
bool halt_sent(const void *info);
/* A thread begins; a process begins, by fork, and has this thread only. */
void halt_adopt(Thread *t);
void halt_after_fork(Thread *t);

#endif
