/* tier.c: what gets optimised code, and when.
 *
 * Everything starts as quick code. A timer of each thread's own CPU time interrupts it, and the place that it is found in gets warmer. What is hot enough
 * (learn.c) has the server asked for optimised code, without waiting: its messages raise the same signal and are answered wherever the
 * guest is then. What an earlier run found hot is in the cache, and taken from there when the place is first reached.
 * What is asked for, region.h says. If it turns out to be crossed often, it is given up again. */
#include "run/client/code/tier.h"

#include <linux/time.h>

#include "cache/pack.h"
#include "host_context.h"
#include "run/client/code/arena/arena.h"
#include "run/client/code/cache/store.h"
#include "run/client/code/learn.h"
#include "run/client/code/optimised/code.h"
#include "run/client/code/optimised/leave.h"
#include "run/client/code/quick/above.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/quick/region.h"
#include "run/client/code/server/remote.h"
#include "run/client/code/verdict.h"
#include "run/client/core/events.h"
#include "run/client/memory/space.h"
#include "run/client/tool/sites.h"

enum { QUEUE = 32, FAILURES_MAX = 5 };
/* Of a sample's time, in milliseconds: the most that counts, since the thread may have been in optimised code for the rest, and so the longest period. And of the time during which
 * most samples were in one place: how much of it makes a sample there count once more, and the most of it that counts. */
enum { PERIOD_LEAST_MS = 1, SAMPLE_MOST_MS = 16, STEADY_UNIT_MS = 4, STEADY_MOST_MS = 128 };
enum { NOTIFY_THREAD = 4 /* SIGEV_THREAD_ID */, CODE_TIMER = -2, CODE_POLL_FIRST = 1 };

typedef struct TierEvent { /* struct sigevent */
    u64 value;
    i32 signal, notify, tid, reserved[11];
} TierEvent;

typedef struct Hot {
    u32 count;
    u64 queue[QUEUE]; /* to be asked for */
    bool asking;
    u32 failures; /* of servers, one after the other */
    bool stopped; /* no more of it */
    u64 asked;    /* what the server works at, */
    u64 base;     /* in the module that was there */
    u32 changes;  /* when its code had changed so often */
} Hot;

static Hot hot;

static bool is_auto(void) {
    return the.opt.tier == TIER_AUTO;
}

/* Where no thread can be made to step, a signal may wait long in quick code, which is for those only who ask for it. */
static Tier chosen(const Options *o) {
    if (!quick_works() || (!CONTEXT_STEPS && (o->debugger || o->asked_tier != TIER_QUICK)))
        return TIER_OPT;
    return o->debugger ? TIER_QUICK : o->asked_tier;
}

void tier_choose(Options *o) {
    o->tier = chosen(o);
    o->debugger_state |= o->debugger ? DEBUGGER_ONCE : 0;
    if (o->debugger && o->tier == TIER_OPT)
        die("a debugger needs quick code, which there is not for this processor");
    o->code.with_quick = o->tier == TIER_AUTO;
}

void tier_watch(void) {
    the.tier.no_image |= the.opt.explain || !sites_can_be_kept() || (*the.opt.plugin && *the.opt.tool);
    the.opt.no_cache |= sites_vary();
    if (!tool_needs_quick())
        return;
    if (*the.opt.plugin)
        die("this tool has functions that only quick code calls, which no plugin changes: give the tool or the plugin "
            "alone");
    if (!quick_works())
        die("this tool needs quick code, which there is not for this processor");
    the.opt.tier = TIER_QUICK;
}

bool tier_sent(const void *info) {
    i32 code;
    u64 value;
    memcpy(&code, (const u8 *)info + 8, 4);
    memcpy(&value, (const u8 *)info + 24, 8);
    return is_auto() && ((code == CODE_TIMER && value == (u64)&hot) || code >= CODE_POLL_FIRST);
}

/* Optimised code is also for guests with several threads if it is made for the memory order that these count on. */
static bool keeps_order(void) {
    return the.opt.code.memory == guest_facts.memory;
}

bool tier_optimises_threads(void) {
    return the.opt.tier == TIER_OPT || (is_auto() && !hot.stopped && keeps_order());
}

bool tier_asks(void) {
    return is_auto() && !hot.stopped && hot.failures < FAILURES_MAX;
}

static void set_timer(const Thread *t, u64 us) {
    struct {
        u64 interval_s, interval_ns, value_s, value_ns;
    } every = {us / 1000000, us % 1000000 * 1000, us / 1000000, us % 1000000 * 1000};
    sys4(__NR_timer_settime, (u64)(i64)t->tier.timer, 0, (u64)&every, 0);
}

void tier_begin(Thread *t) {
    t->tier.timed = false;
    if (!is_auto() || hot.stopped)
        return;
    TierEvent event = {.value = (u64)&hot, .signal = TIER_SIGNAL, .notify = NOTIFY_THREAD, .tid = (i32)t->tid};
    u64 us = the.opt.sample_us, clock = us ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    t->tier.timed = sys3(__NR_timer_create, clock, (u64)&event, (u64)&t->tier.timer) >= 0;
    t->tier.period_ms = PERIOD_LEAST_MS;
    if (t->tier.timed)
        set_timer(t, us ? us : PERIOD_LEAST_MS * 1000);
}

void tier_note(Thread *t, u64 host) {
    verdict_note(t, host);
}

void tier_end(Thread *t) {
    if (t->tier.timed)
        sys1(__NR_timer_delete, (u64)(i64)t->tier.timer);
    t->tier.timed = false;
}

void tier_pause(Thread *t) {
    tier_end(t);
    remote_silence();
}

/* ------------------------------------------------------------------------------------------------------------ requests */

static u64 take_hottest(void) {
    u32 hottest = 0;
    for (u32 i = 1; i < hot.count; i++)
        if (code_warm(hot.queue[i], 0) > code_warm(hot.queue[hottest], 0))
            hottest = i;
    u64 pc = hot.queue[hottest];
    hot.queue[hottest] = hot.queue[--hot.count];
    return pc;
}

/* Where no server can be had, or each one dies, quick code does without. */
static void ask_next(Thread *t) {
    while (hot.count && !hot.asking && hot.failures < FAILURES_MAX) {
        u64 pc = take_hottest();
        const Module *m = space_module(pc);
        hot.asking = m && remote_begin(t, pc, m, false);
        hot.failures += m && !hot.asking;
        hot.asked = pc;
        hot.base = m ? m->base : 0, hot.changes = m ? m->changes : 0;
    }
}

/* Another server is told that this takes too much, which it keeps for later runs. */
static void ask_again(Thread *t) {
    const Module *m = space_module(hot.asked);
    hot.asking = m && remote_begin(t, hot.asked, m, true);
}

/* False if the code that was asked for, or some other code of its module, has changed since: the answer may be of old code. */
static bool is_current(void) {
    const Module *m = space_module(hot.asked);
    return m && m->base == hot.base && m->changes == hot.changes;
}

static void take_answer(Thread *t) {
    ObjectMessage facts;
    const void *object;
    RemoteAnswer answer = remote_poll(t, &facts, &object);
    if (answer == REMOTE_NOTHING)
        return;
    hot.asking = false;
    hot.failures = answer == REMOTE_LOST ? hot.failures + 1 : 0;
    if (answer == REMOTE_LIMIT)
        ask_again(t);
    if (answer != REMOTE_OBJECT || facts.pc != hot.asked)
        return;
    if (!is_current())
        code_unask(facts.pc);
    else if (facts.object_size)
        code_install(t, &facts, object);
    else
        code_refused(&facts);
}

/* Another process may have had it made since this one began: then it is in the cache. */
static void want(Thread *t, u64 pc) {
    code_load(t, pc);
    if (code_has(pc) || hot.count == QUEUE)
        return;
    code_ask(pc);
    hot.queue[hot.count++] = pc;
}

/* Does code only jump to a computed address, as in a PLT? Optimised code of it would return, all the way to quick code. */
static bool jumps_away(u64 pc) {
    enum { LOOKED_AT = 6, TEXT = 16 };
    u8 text[TEXT];
    InsnView view;
    for (u32 i = 0; i < LOOKED_AT && insn_view(text, tool_read_text(pc, text), pc, &view); i++) {
        if (view.flow != FLOW_NEXT && view.flow != FLOW_JUMP)
            return view.flow == FLOW_INDIRECT;
        pc = view.flow == FLOW_JUMP ? view.target : pc + view.size;
    }
    return false;
}

/* For a tool that wants all of a module to be optimised: asks for the code at pc, and waits until there is an answer. Others have their turn when they are called. */
static void want_now(Thread *t, u64 pc) {
    if (hot.asking || hot.failures >= FAILURES_MAX || t->process.own_files || code_has(pc) || !space_module(pc) ||
        jumps_away(pc))
        return;
    want(t, pc);
    for (ask_next(t); hot.asking; take_answer(t))
        remote_wait();
}

static bool is_in_whole(u64 pc) {
    for (u32 i = 0; i < the.tier.whole_count && i < TIER_WHOLE; i++)
        if (pc >= the.tier.whole[i].start && pc < the.tier.whole[i].end)
            return true;
    return false;
}

void tier_found(Thread *t, u64 pc) {
    if (!is_auto() || hot.stopped)
        return;
    code_load(t, pc);
    if (is_in_whole(pc))
        want_now(t, pc);
}

void tier_found_loop(Thread *t, u64 pc) {
    if (is_auto() && !hot.stopped)
        code_load(t, pc);
}

/* -------------------------------------------------------------------------------------------------------------- samples */

/* The thread's CPU time since its last sample. */
static u64 time_passed(Thread *t) {
    struct timespec now;
    sys_clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    u64 us = (u64)now.tv_sec * 1000000 + (u64)now.tv_nsec / 1000, passed = us - t->tier.sampled_us;
    t->tier.sampled_us = us;
    return passed;
}

/* How much a sample counts. A message of the server comes at any time, and says nothing about the guest. */
static u32 sample_ms(u64 passed_us) {
    u64 ms = (passed_us + 500) / 1000;
    if (the.opt.sample_us && !ms)
        return 1;
    return ms < SAMPLE_MOST_MS ? (u32)ms : SAMPLE_MOST_MS;
}

/* Counts for how long most samples were in one place that could have optimised code (0: in none). One elsewhere takes away twice its time. */
static void note_place(ThreadTier *at, u64 pc, u32 ms) {
    if (pc && pc == at->place)
        at->steady_ms = at->steady_ms + ms < STEADY_MOST_MS ? at->steady_ms + ms : STEADY_MOST_MS;
    else if (at->steady_ms > 2 * ms)
        at->steady_ms -= 2 * ms;
    else
        at->place = pc, at->steady_ms = 0;
}

/* If a tool says what is optimised, nothing else is. Optimised code is a gain if the guest stays in it. That it does so is likely if it is hardly found elsewhere, so samples in such a place
 * count more: a loop that takes most of the time is hot after a tenth of a second, a loop of an interpreter after some seconds. */
static void warm(Thread *t, u64 pc, u32 ms) {
    bool open = pc && !code_has(pc);
    note_place(&t->tier, open ? pc : 0, ms);
    u32 more = pc == t->tier.place ? ms * (u32)t->tier.steady_ms / STEADY_UNIT_MS : 0;
    if (open && !the.tier.whole_count && code_warm(pc, ms + more) >= learn_need())
        want(t, pc);
}

/* A sample takes some tenths of a millisecond, and what it interrupts has to find its way again. A thread that is found elsewhere each time is looked for less often: each sample then
 * counts for more, and a place that it stays in is noticed at the second sample there. */
static void adapt_period(Thread *t) {
    u32 longer = 2 * t->tier.period_ms < SAMPLE_MOST_MS ? 2 * t->tier.period_ms : SAMPLE_MOST_MS;
    u32 period = t->tier.steady_ms ? PERIOD_LEAST_MS : longer;
    if (the.opt.sample_us || !t->tier.timed || period == t->tier.period_ms)
        return;
    t->tier.period_ms = period;
    set_timer(t, period * 1000);
}

/* One that has descriptors of its own does not have the server's. */
static void talk_to_server(Thread *t) {
    if (t->process.own_files)
        return;
    if (hot.asking)
        take_answer(t);
    if (!hot.asking)
        ask_next(t);
}

void tier_sample(Thread *t) {
    t->tier.sampled = false;
    the.stats.samples++;
    if (hot.stopped) {
        if (!the.opt.sample_us) /* those who ask for a period want signals, not samples */
            tier_end(t);
        return;
    }
    u64 passed_us = time_passed(t);
    arena_lock();
    learn_recall();
    verdict_pass(t, passed_us);
    if (sample_ms(passed_us))
        warm(t, region_of(t->cpu.pc), sample_ms(passed_us));
    adapt_period(t);
    talk_to_server(t);
    arena_unlock();
}

/* With the arena's lock held, and no thread in optimised code: the guest goes on as quick code everywhere, optimised code that waits on the host's stacks for a
 * return is not returned to, and no answer of the server is waited for. */
static void drop_optimised(void) {
    code_revert_all();
    for (Thread *each = the.threads; each; each = each->next)
        quick_expect_nobody(each);
    remote_end();
    hot.asking = false;
    hot.count = 0;
}

/* Also where quick code has taken over: threads may still be on their way there. */
static bool is_opt(void) {
    return the.opt.tier == TIER_OPT || the.opt.asked_tier == TIER_OPT;
}

static void make_anew(Thread *t) {
    code_watch();
    leave_wait(t);
}

/* With --tier=auto, in a system call of t. A server makes code of one kind only, so all optimised code is dropped, and what is asked for
 * later is of the new kind. */
static void add_to_kind(Thread *t, bool exact) {
    arena_lock();
    if (!hot.stopped && (!the.opt.code.polls || (exact && !the.opt.code.exact))) {
        quick_with_others_stopped(t, drop_optimised);
        u64 before = pack_key_kind(&the.opt.code); /* another thread may have been first */
        the.opt.code.polls = 1;
        the.opt.code.exact |= exact;
        store_change(before ^ pack_key_kind(&the.opt.code));
    }
    arena_unlock();
}

void tier_use_polls(Thread *t) {
    if (is_opt())
        make_anew(t);
    if (is_auto())
        add_to_kind(t, false);
}

void tier_use_handlers(Thread *t) {
    arena_lock();
    quick_show_flags();
    arena_unlock();
    tier_use_polls(t);
}

void tier_stop_locked(void) {
    if (!is_auto() || hot.stopped)
        return;
    hot.stopped = true;
    drop_optimised();
}

/* With --tier=auto there is only quick code from now on; with --tier=opt code so far is forgotten, and threads leave it. */
static void stop(Thread *t) {
    if (is_opt())
        make_anew(t);
    arena_lock();
    if (is_auto() && !hot.stopped)
        quick_with_others_stopped(t, tier_stop_locked);
    arena_unlock();
}

/* Code is made anew so that its accesses to memory can leave with the state in whole; where the host runs the guest's instructions, quick code
 * has that, at a lower price. The handler's signal may also be sent. */
void tier_keep_state(Thread *t) {
    arena_lock();
    quick_keep_registers();
    arena_unlock();
    if (is_auto() && !guest_facts.is_hosts) {
        add_to_kind(t, true);
        return;
    }
    if (is_opt() && guest_facts.is_hosts)
        code_give_way("it handles faults, or is traced");
    else if (is_opt())
        code_keep_state();
    stop(t);
}

void tier_share_memory(void) {
    if (is_opt() && !keeps_order())
        code_share();
}

void tier_share(Thread *t, bool separate) {
    if (is_auto() && keeps_order() && !separate) {
        tier_use_polls(t);
        return;
    }
    stop(t);
    code_share();
}
