/* locks.c: lathe_lock of lathe/tool.h in a raised program, and what fork does about locks.
 *
 * As in src/run/client/tool/locks.c: a thread that forks closes a gate, at which others wait before they take their first lock, and goes on when nobody holds one. */
#include "raise/runtime/tool/runtime.h"

static u32 closed;    /* the gate */
static u32 held;      /* locks that are held, of all threads */
static u32 fork_lock; /* of the thread that has closed the gate */

void lock(u32 *word) {
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
        LIBC(sched_yield)();
}

void unlock(u32 *word) {
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

/* Each sees the other: the number is there before the gate is looked at. */
static void pass_gate(void) {
    for (;;) {
        __atomic_fetch_add(&held, 1, __ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&closed, __ATOMIC_SEQ_CST))
            return;
        __atomic_fetch_sub(&held, 1, __ATOMIC_SEQ_CST);
        LIBC(sched_yield)();
    }
}

void lathe_lock(LatheLock *l) {
    u32 self = (u32)LIBC(gettid)();
    if (l->word && __atomic_load_n(&l->owner, __ATOMIC_RELAXED) == self)
        lathe_fail("lathe_lock was given a lock that this thread holds already");
    pass_gate();
    lock(&l->word);
    __atomic_store_n(&l->owner, self, __ATOMIC_RELAXED);
}

void lathe_unlock(LatheLock *l) {
    if (l->owner != (u32)LIBC(gettid)())
        lathe_fail("lathe_unlock was given a lock that this thread does not hold");
    __atomic_store_n(&l->owner, 0, __ATOMIC_RELAXED);
    unlock(&l->word);
    __atomic_fetch_sub(&held, 1, __ATOMIC_SEQ_CST);
}

void locks_close(void) {
    lock(&fork_lock);
    __atomic_store_n(&closed, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&held, __ATOMIC_SEQ_CST))
        LIBC(sched_yield)();
}

void locks_open(void) {
    __atomic_store_n(&closed, 0, __ATOMIC_SEQ_CST);
    unlock(&fork_lock);
}
