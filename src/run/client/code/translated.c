/* translated.c: see translated.h. */
#include "run/client/code/translated.h"

#include "host_context.h"
#include "run/client/code/arena/arena.h"
#include "run/client/code/optimised/accesses.h"
#include "run/client/code/optimised/code.h"
#include "run/client/code/optimised/entries.h"
#include "run/client/code/optimised/leave.h"
#include "run/client/code/quick/direct.h"
#include "run/client/code/quick/halt.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/quick/tally.h"
#include "run/client/code/quick/visit.h"
#include "run/client/code/server/hidden.h"
#include "run/client/code/server/remote.h"
#include "run/client/code/server/spawn.h"
#include "run/client/code/tier.h"
#include "run/client/tool/perf.h"
#include "run/client/tool/tool.h"

bool translated_has_map(void) {
    return quick_has_map();
}

bool translated_init(void) {
    return arena_init() && code_init() && quick_init();
}

void translated_fix(void) {
    arena_fix();
    perf_begin();
}

void translated_lock(void) {
    arena_lock();
}

void translated_unlock(void) {
    arena_unlock();
}

/* ------------------------------------------------------------------------------------------------- threads and processes */

void translated_thread_begins(Thread *t) {
    quick_connect(t);
    halt_adopt(t);
    entry_prepare_rows(t);
}

void translated_thread_ends(Thread *t) {
    t->quick.tables_age = quick_tables_age();
}

bool translated_fits_new_thread(const Thread *ended) {
    return ended->quick.tables_age == quick_tables_age();
}

void translated_thread_free(Thread *t) {
    remote_free(&t->server.remote);
}

void translated_run(Thread *t) {
    thread_run(t);
}

void translated_run_anew(Thread *t) {
    thread_start(t, t->stack.host + t->stack.host_size);
}

bool translated_is_given_up(const Thread *t) {
    return leave_due(t);
}

void translated_before_fork(void) {
    arena_after_fork();
}

void translated_leave_parent(Thread *t) {
    remote_after_fork(t);
    keeper_after_fork(t);
}

void translated_after_fork(Thread *t) {
    code_after_fork();
    visits_begin_once();
    halt_after_fork(t);
    perf_after_fork();
}

void translated_share(Thread *t, bool separate) {
    tier_share(t, separate);
}

void translated_share_memory(void) {
    tier_share_memory();
}

void translated_halt(const Thread *self) {
    halt_all(HALT_DEBUGGER, self);
}

void translated_halt_end(void) {
    halt_end(HALT_DEBUGGER);
}

void translated_release(Thread *t) {
    halt_release(t, HALT_DEBUGGER);
}

void translated_halt_this(Thread *t) {
    halt_join(t, HALT_DEBUGGER);
}

bool translated_is_halted(const Thread *t) {
    return halt_is_halted(t, HALT_DEBUGGER);
}

void translated_halt_wait(Thread *t) {
    halt_wait(t);
}

void translated_attend(Thread *t) {
    halt_attend(t);
}

bool translated_is_to_attend(Thread *t) {
    return __atomic_fetch_and(&t->quick.stop, ~halt_bit(HALT_ATTEND), __ATOMIC_SEQ_CST) & halt_bit(HALT_ATTEND);
}

/* ----------------------------------------------------------------------------------------------------- signals and faults */

bool translated_locate(u64 host, QuickPlace *place) {
    return arena_holds(host) && quick_locate(host, place);
}

TranslatedWhere translated_where(const Thread *t, const SignalContext *s, QuickPlace *place) {
    u64 at = quick_original(context_pc(s));
    if (tool_stack_holds(t, context_sp(s)))
        return TRANSLATED_CALLED;
    bool quick = translated_locate(at, place);
    if (quick && place->boundary)
        return TRANSLATED_BOUNDARY;
    if (at >= (u64)quick_resume && at < (u64)quick_end)
        return TRANSLATED_RESUMING;
    return quick || quick_is_between(t, at) ? TRANSLATED_INSIDE : TRANSLATED_OUTSIDE;
}

void translated_recall(Thread *t) {
    direct_recall(t);
}

bool translated_is_recalled(Thread *t, SignalContext *s) {
    u64 pc = direct_recalled(t, context_pc(s));
    if (pc)
        context_set_pc(s, pc);
    return pc;
}

void translated_begun(QuickPlace *place) {
    for (u32 i = 0; i < TOOL_COUNTS; i++)
        place->ahead.amount[i] -= place->here[i];
    for (u32 i = 0; i < place->here_rows; i++)
        place->ahead.row[i].amount = 0;
}

void translated_take_state(Thread *t, const struct SignalContext *s, const QuickPlace *place) {
    quick_take_state(t, s, place);
    tally_take_back(t, &place->ahead);
    t->tool.inside = place->inside;
    visit_done(t);
}

u64 translated_diversion(void) {
    return (u64)quick_interrupted;
}

bool translated_detour(struct SignalContext *s) {
    return quick_detour(s);
}

u64 translated_access_exit(u64 host) {
    return accesses_find_exit(host);
}

bool translated_is_tools(u64 host) {
    return accesses_is_by_tool(host);
}

bool translated_written(u64 addr) {
    return quick_written(addr);
}

bool translated_allow_writes(void) {
    return quick_allow_writes();
}

bool translated_is_stop(const struct SignalInfo *info) {
    return halt_sent(info);
}

bool translated_is_leave(const struct SignalInfo *info) {
    return leave_is_asked(info);
}

/* ---------------------------------------------------------------------------------------------------------------- the server */

void translated_before_confinement(Thread *t) {
    keeper_prepare(t);
}

void translated_copy_descriptors(Thread *child, const Thread *parent) {
    keeper_copy(child, parent);
}

void translated_before_exec(void) {
    remote_silence();
}

u32 translated_hand_on(Thread *t, bool stays) {
    return keeper_hand_on(t, stays);
}

int translated_descriptor(Thread *t, int from) {
    return hidden_next(t, from);
}

bool translated_make_way(Thread *t, int fd) {
    return hidden_make_way(t, fd);
}
