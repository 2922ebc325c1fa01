/* stencil_thread.c: what stencil.S finds in a Thread, and what there is no need for in code of stencils. */
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/stencil/place.h"

/* Returns are looked up with and without flags, and with nobody expected, by the same code. */
void quick_set_returns(Thread *t) {
    (void)t;
}

void quick_expect_nobody(Thread *t) {
    t->quick.expected = t->quick.expected_sp = EXPECTED_NOBODY;
}

void quick_connect(Thread *t) {
    const void *const all[] = {(void *)quick_lookup,     (void *)quick_lookup_call, (void *)quick_trapped,
                               (void *)quick_arrive,     (void *)quick_exit,        (void *)cross_back,
                               (void *)quick_interrupted};
    memcpy(t->quick.c, all, sizeof(all));
    t->quick.leave = quick_near(quick_leave);
    t->quick.cross_enter = cross_enter;
    t->quick.cross_leave = cross_leave;
    quick_expect_nobody(t);
    tables_init(t);
    t->quick.arena = the.code_base;
}

bool quick_is_between(const Thread *t, u64 host) {
    u64 at = quick_original(host);
    return (at >= (u64)quick_start && at < (u64)quick_end) || (at >= (u64)cross_start && at < (u64)cross_end) ||
           t->quick.helping || emit_is_helper(host);
}

bool quick_detour(struct SignalContext *s) {
    return (void)s, false;
}
void quick_keep_flags(void) {
}
bool quick_keeps_flags(void) {
    return false;
}

bool quick_has_map(void) {
    return false;
}
