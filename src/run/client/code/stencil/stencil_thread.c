/* stencil_thread.c: what stencil.S finds in a Thread, and functions of quick.h that have little to do for code of stencils. */
#include "host_held.h"
#include "isa/form.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/stencil/place.h"

/* Code of stencils names its routine for returns itself, and the same routine also serves returns that optimised code expects. So there is none to choose. */
void quick_set_returns(Thread *t) {
    t->quick.map_end = the.map ? LOW_CODE : 0;
}

void quick_expect_nobody(Thread *t) {
    t->quick.expected = t->quick.expected_sp = EXPECTED_NOBODY;
    quick_set_returns(t);
}

/* Jumps are looked up as returns are. So the place of quick_lookup_jump in Thread.quick.c is free, and stencil.S calls quick_trapped by it. */
void quick_connect_maker(Thread *t) {
    enum { C_TRAPPED = 2 };
    t->quick.c[C_TRAPPED] = (void *)quick_trapped;
}

bool quick_is_between(const Thread *t, u64 host) {
    return quick_is_in_assembly(host) || t->quick.helping || emit_is_helper(host);
}

/* Code leaves out flags that no instruction reads, until a handler of a signal may look at them. */
static bool keeps_flags, is_stale;

void quick_keep_flags(bool anew) {
    if (!form_leaves_flags)
        return;
    is_stale = anew && (is_stale || !keeps_flags);
    keeps_flags = true;
}

void quick_keep_registers(void) {
    quick_keep_flags(true);
}

void quick_show_flags(void) {
    quick_keep_flags(true);
}

bool quick_is_stale(void) {
    return is_stale;
}

void quick_is_anew(void) {
    is_stale = false;
}

/* True only when all code keeps them. */
bool quick_keeps_flags(void) {
    return keeps_flags && !is_stale;
}

bool quick_has_map(void) {
    return HELD_HAS_MAP;
}
