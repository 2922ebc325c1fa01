/* renew.c: threads leave translated code and wait, while what they were in is replaced.
 *
 * Each one gets a signal that the guest cannot block, and comes to where its guest's state is whole in its Thread: it is in a system call,
 * or on its way back from C to quick code, where it waits (quick_resume looks at Thread.quick.stop). Loops of optimised code look for signals
 * if there are several threads.
 *
 * All code is begun anew in this way when its memory is full, or mostly of code that guest code is no longer: memory of code cannot be used
 * again while a thread may be in it. Every translation is forgotten then, on the host's stacks, too. */
#include <linux/futex.h>

#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/above.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"
#include "run/client/core/events.h"

enum { BYTES_MIN = 16 << 20, POLL_NS = 1000000 };

static struct {
    bool under_way; /* changed with the arena's lock held */
    u32 turns;      /* how often it was done; who waits for the end waits for a change */
} renewal;

bool quick_is_crowded(void) {
    const Blocks *q = &quick_all;
    u64 bytes = arena_used() + q->blocks.len + q->exits.len + q->lens.len + q->bitmaps.len;
    return quick_is_stale() || arena_is_nearly_full() || map_is_large() ||
           (bytes > BYTES_MIN && q->dead > block_count() / 2);
}

/* --------------------------------------------------------------------------------------------------- the other threads */

bool quick_sent_stop(const void *info) {
    return signal_is_nudge(info, &renewal);
}

/* A separate one may have been killed, or run another program by now. */
static void ask_to_stop(Thread *t) {
    __atomic_store_n(&t->quick.stop, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&t->process.lives, __ATOMIC_ACQUIRE) || !signal_nudge(t, &renewal))
        t->quick.stopped = true;
}

/* False for one of another process that shares this memory. */
static bool is_of_process(const Thread *t) {
    return !t->process.borrows_memory && !t->process.separate;
}

static bool can_stop_all(void) {
    for (const Thread *t = the.threads; t; t = t->next)
        if (!is_of_process(t))
            return false;
    return true;
}

/* A thread that lends its memory to a child sleeps in a system call and hears nothing; behind it, it looks at Thread.quick.stop. */
static bool has_stopped(const Thread *t) {
    return __atomic_load_n(&t->quick.stopped, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&t->process.lends_memory, __ATOMIC_SEQ_CST) || !is_of_process(t);
}

static bool all_stopped(void) {
    for (const Thread *t = the.threads; t; t = t->next)
        if (!has_stopped(t))
            return false;
    return true;
}

/* With the lock held, before and after; not meanwhile, since who is stopped may need it on the way. One signal may be lost: the
 * guest may have sent the same. */
static void stop_all(const Thread *self) {
    static const struct timespec moment = {0, POLL_NS};
    u32 nobody = 0;
    __atomic_store_n(&renewal.under_way, true, __ATOMIC_SEQ_CST);
    for (Thread *t = the.threads; t; t = t->next) {
        /* First: a signal of an earlier time may still come, and say that it has stopped. */
        if (t != self && is_of_process(t))
            __atomic_store_n(&t->quick.stop, 1, __ATOMIC_SEQ_CST);
        t->quick.stopped = t == self;
    }
    while (!all_stopped()) {
        for (Thread *t = the.threads; t; t = t->next)
            if (!t->quick.stopped && is_of_process(t))
                ask_to_stop(t);
        arena_unlock();
        sys_futex(&nobody, FUTEX_WAIT_PRIVATE, 0, &moment);
        arena_lock();
    }
}

static void let_all_go(void) {
    renewal.under_way = false;
    __atomic_fetch_add(&renewal.turns, 1, __ATOMIC_RELEASE);
    sys_futex(&renewal.turns, FUTEX_WAKE_PRIVATE, ~0u >> 1, NULL);
}

static void await_turn(u32 turn) {
    while (__atomic_load_n(&renewal.under_way, __ATOMIC_SEQ_CST) &&
           turn == __atomic_load_n(&renewal.turns, __ATOMIC_ACQUIRE))
        sys_futex(&renewal.turns, FUTEX_WAIT_PRIVATE, turn, NULL);
}

void quick_adopt(Thread *t) {
    t->quick.stop = renewal.under_way;
    t->quick.stopped = true;
}

void quick_wait_stopped(Thread *t) {
    u32 turn = __atomic_load_n(&renewal.turns, __ATOMIC_ACQUIRE);
    __atomic_exchange_n(&t->quick.stop, 0, __ATOMIC_SEQ_CST); /* before the next look at what is under way */
    __atomic_store_n(&t->quick.stopped, true, __ATOMIC_SEQ_CST);
    await_turn(turn);
}

/* Who is stopped by another thread meanwhile is in a system call, too, and waits here for its own turn. */
void quick_with_others_stopped(Thread *t, void (*what)(void)) {
    while (renewal.under_way) {
        u32 turn = renewal.turns;
        arena_unlock();
        await_turn(turn);
        arena_lock();
    }
    stop_all(t);
    what();
    let_all_go();
}

void quick_after_fork(Thread *t) {
    renewal.under_way = false;
    t->quick.stop = 0;
}

/* -------------------------------------------------------------------------------------------------------------- renewal */

static void forget_lookups(Thread *t) {
    memset(t->lookup.pc, 0, sizeof(t->lookup.pc));
    memset(t->lookup.jump_pc, 0, sizeof(t->lookup.jump_pc));
    tables_init(t);
    quick_expect_nobody(t);
    t->quick.host_sp = t->quick.host_base;
}

static bool renew(Thread *t, bool keeps_map) {
    if (renewal.under_way || !can_stop_all())
        return false;
    stop_all(t);
    code_forget_all();
    blocks_forget_all();
    arena_reset();
    map_forget_all();
    if (!keeps_map)
        the.map = 0;
    __atomic_fetch_add(&quick_all.tables_age, 1, __ATOMIC_RELEASE);
    for (Thread *each = the.threads; each; each = each->next)
        forget_lookups(each);
    the.stats.renewals++;
    let_all_go();
    return true;
}

void quick_renew(Thread *t) {
    renew(t, true);
}

bool quick_renew_without_map(Thread *t) {
    return renew(t, false);
}
