/* locks.c: lathe_lock, and what fork does about locks.
 *
 * A child of fork has only the thread that called it. If another thread held a lock of the tool's at that moment, it would be held there for ever, and what it protects would be
 * half changed. So the thread that forks closes a gate: threads that hold no lock wait at it before they take one, and those that hold some go on until they hold none. */
#include <linux/futex.h>

#include "run/client/code/arena/arena.h"
#include "run/client/tool/runtime.h"
#include "run/client/tool/tool.h"

static u32 closed;    /* the gate */
static u32 fork_lock; /* of the thread that has closed it */

/* The thread's number of locks is seen before the gate is looked at, and the other way round in tool_before_fork: one of both sees the other. */
static void pass_gate(Thread *t) {
    for (;;) {
        __atomic_store_n(&t->tool.locks, 1, __ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&closed, __ATOMIC_SEQ_CST))
            return;
        __atomic_store_n(&t->tool.locks, 0, __ATOMIC_SEQ_CST);
        sys_futex(&closed, FUTEX_WAIT_PRIVATE, 1, NULL);
    }
}

void lathe_lock(LatheLock *l) {
    Thread *t = thread_self();
    if (l->word && __atomic_load_n(&l->owner, __ATOMIC_RELAXED) == t->tid)
        lathe_fail("lathe_lock was given a lock that this thread holds already");
    if (t->tool.locks)
        t->tool.locks++;
    else
        pass_gate(t);
    lock(&l->word);
    __atomic_store_n(&l->owner, t->tid, __ATOMIC_RELAXED);
}

void lathe_unlock(LatheLock *l) {
    Thread *t = thread_self();
    if (!t->tool.locks || l->owner != t->tid)
        lathe_fail("lathe_unlock was given a lock that this thread does not hold");
    __atomic_store_n(&l->owner, 0, __ATOMIC_RELAXED);
    unlock(&l->word);
    __atomic_store_n(&t->tool.locks, t->tool.locks - 1, __ATOMIC_RELEASE);
}

static bool anybody_holds(void) {
    bool any = false;
    arena_lock();
    for (const Thread *t = the.threads; t; t = t->next)
        any |= __atomic_load_n(&t->tool.locks, __ATOMIC_SEQ_CST) != 0;
    arena_unlock();
    return any;
}

void tool_close_gate(void) {
    lock(&fork_lock);
    __atomic_store_n(&closed, 1, __ATOMIC_SEQ_CST);
    while (anybody_holds())
        sys0(__NR_sched_yield);
}

void tool_open_gate(void) {
    __atomic_store_n(&closed, 0, __ATOMIC_SEQ_CST);
    sys_futex(&closed, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL);
    unlock(&fork_lock);
}
