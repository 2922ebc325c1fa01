/* tier.c: which functions get optimised code, and when.
 *
 * Everything starts as quick code. A timer of each thread's own CPU time interrupts it; the function where it is then found
 * several times is hot, and the server is asked for optimised code, without waiting: its messages raise the same signal and are
 * answered wherever the guest is then. A function that is found hot though it has optimised code is in a loop that began before;
 * the loop's head then gets optimised code of its own, and the thread changes over there.
 *
 * What an earlier run found hot is in the cache, and taken from there when the function is first called. */
#include "run/client/tier.h"

#include <linux/time.h>

#include "run/client/arena.h"
#include "run/client/quick.h"

enum { PERIOD_NS = 1000000, HOT_SAMPLES = 2, QUEUE = 32 };
enum { OWNER_THREAD = 0 /* F_OWNER_TID */, NOTIFY_THREAD = 4 /* SIGEV_THREAD_ID */, CODE_TIMER = -2, CODE_POLL_FIRST = 1 };

typedef struct TierEvent { /* struct sigevent */
    u64 value;
    i32 signal, notify, tid, reserved[11];
} TierEvent;

typedef struct Hot {
    u32 count;
    u64 queue[QUEUE]; /* to be asked for */
    bool asking;
    u64 asked; /* what the server works at */
} Hot;

static Hot hot;

static bool is_auto(void) {
    return the.opt.tier == TIER_AUTO;
}

bool tier_sent(const void *info) {
    i32 code;
    u64 value;
    memcpy(&code, (const u8 *)info + 8, 4);
    memcpy(&value, (const u8 *)info + 24, 8);
    return is_auto() && ((code == CODE_TIMER && value == (u64)&hot) || code >= CODE_POLL_FIRST);
}

void tier_begin(Thread *t) {
    if (!is_auto())
        return;
    TierEvent event = {.value = (u64)&hot, .signal = TIER_SIGNAL, .notify = NOTIFY_THREAD, .tid = (i32)t->tid};
    i32 timer;
    if (sys3(__NR_timer_create, CLOCK_THREAD_CPUTIME_ID, (u64)&event, (u64)&timer) < 0)
        return;
    struct {
        i64 interval_s, interval_ns, value_s, value_ns;
    } every = {0, PERIOD_NS, 0, PERIOD_NS};
    sys4(__NR_timer_settime, (u64)(i64)timer, 0, (u64)&every, 0);
}

void tier_found(Thread *t, u64 pc) {
    if (is_auto())
        code_load(t, pc);
}

/* ------------------------------------------------------------------------------------------------------------ requests */

static void ask_next(Thread *t) {
    while (hot.count && !hot.asking) {
        u64 pc = hot.queue[--hot.count];
        const Module *m = space_module(pc);
        hot.asking = m && remote_begin(t, pc, m);
        hot.asked = pc;
    }
}

static void take_answer(Thread *t) {
    ObjectMessage facts;
    const void *object;
    RemoteAnswer answer = remote_poll(&facts, &object);
    if (answer == REMOTE_NOTHING)
        return;
    hot.asking = false;
    if (answer == REMOTE_OBJECT && facts.object_size && facts.pc == hot.asked)
        code_install(t, &facts, object);
}

static void want(u64 pc) {
    if (hot.count < QUEUE && code_wanted(pc, HOT_SAMPLES))
        hot.queue[hot.count++] = pc;
}

void tier_sample(Thread *t) {
    u64 pc = t->cpu.pc;
    t->sampled = false;
    the.stats.samples++;
    arena_lock();
    u64 function = quick_function(pc), loop = quick_loop(pc);
    if (function && !code_has(function))
        want(function);
    else if (loop && !code_has(loop))
        want(loop);
    if (hot.asking)
        take_answer(t);
    if (!hot.asking)
        ask_next(t);
    arena_unlock();
}
