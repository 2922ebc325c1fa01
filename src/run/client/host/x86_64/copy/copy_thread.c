/* copy_thread.c: what quick.S and cross.S find in a Thread. */
#include "guest_context.h"
#include "guest_flags.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"
#include "run/client/host/x86_64/copy/copy.h"

/* Pairs of labels in quick.S and cross.S: an access to memory that may fault, and where to go on then. */
#define DETOURS(M)                                                                                                     \
    M(quick_return_store, quick_return_slow)                                                                           \
    M(quick_return_exact_store, quick_return_exact_slow)                                                               \
    M(map_return_load, map_return_unknown)                                                                             \
    M(map_return_store, map_return_unknown)                                                                            \
    M(map_jump_load, map_jump_unknown)                                                                                 \
    M(cross_compare, cross_jumps)                                                                                      \
    M(cross_peek, cross_peeked)                                                                                        \
    M(cross_forget, cross_forgotten)
#define DECLARE(from, to)                                                                                              \
    extern u8 from[] __attribute__((visibility("hidden"))), to[] __attribute__((visibility("hidden")));
#define PAIR(from, to) {from, to},
DETOURS(DECLARE)

static u64 detour_of_text(u64 place) {
    static u8 *const pairs[][2] = {DETOURS(PAIR)};
    u64 at = quick_original(place);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (at == (u64)pairs[i][0])
            return (u64)pairs[i][1];
    return 0;
}

bool quick_detour(SignalContext *s) {
    u64 to = detour_of_text(s->rip);
    if (!to && the.map && arena_holds(s->rip))
        to = emit_detour(s->rip, s->rcx);
    if (!to && *the.opt.tool && arena_holds(s->rip))
        to = visit_detour(s->rip);
    if (to)
        s->rip = to;
    return to;
}

void quick_set_returns(Thread *t) {
    t->quick.return_exact = quick_near(quick_return_exact);
    t->quick.return_expected = quick_keeps_flags() ? t->quick.return_exact : quick_near(quick_return_expected);
    t->quick.return_plain = quick_keeps_flags() ? t->quick.return_exact : quick_near(quick_return);
    t->quick.ret = t->quick.expected == EXPECTED_NOBODY ? t->quick.return_plain : t->quick.return_expected;
    t->quick.to_return = the.map ? quick_near(map_return) : quick_near(quick_return);
    t->quick.to_jump = the.map ? quick_near(map_jump) : quick_near(quick_jump);
    t->quick.map_end = the.map ? LOW_CODE : 0;
}

void quick_expect_nobody(Thread *t) {
    t->quick.expected = EXPECTED_NOBODY;
    quick_set_returns(t);
}

void quick_connect_maker(Thread *t) {
    t->quick.call = quick_near(quick_call);
    t->quick.jump = quick_near(quick_jump);
}

bool quick_works(void) {
    return true;
}

bool quick_is_between(const Thread *t, u64 host) {
    (void)t;
    return quick_is_in_assembly(host);
}

void quick_take_state(Thread *t, const struct SignalContext *s, const QuickPlace *place) {
    frame_take_general(&t->cpu, s);
    t->cpu.pc = place->pc;
    for (u32 i = 0; i < 2 && place->spilled[i] >= 0; i++)
        memcpy(&t->cpu.gp[place->spilled[i]], (u8 *)t + place->spill_off[i], 8);
    for (u32 left = place->kept; left; left &= left - 1)
        t->cpu.gp[__builtin_ctz(left)] = t->tool.spill[__builtin_ctz(left)];
    if (place->borrows_fs)
        __asm__ volatile("wrfsbase %0" : : "r"(t->quick.spill_rax));
    if (place->based >= 0)
        t->cpu.gp[place->based] -= t->cpu.gsbase;
}

bool quick_has_map(void) {
    return true;
}
