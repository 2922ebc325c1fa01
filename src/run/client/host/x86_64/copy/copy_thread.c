/* copy_thread.c: what quick.S and cross.S find in a Thread. */
#include "guest_flags.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/quick.h"

u64 quick_detour(u64 place) {
    extern u8 quick_return_store[] __attribute__((visibility("hidden"))),
        quick_return_slow[] __attribute__((visibility("hidden")));
    extern u8 quick_return_exact_store[] __attribute__((visibility("hidden")));
    extern u8 quick_return_exact_slow[] __attribute__((visibility("hidden")));
    extern u8 cross_peek[] __attribute__((visibility("hidden"))), cross_peeked[] __attribute__((visibility("hidden")));
    u64 at = quick_original(place);
    return at == (u64)quick_return_store         ? (u64)quick_return_slow
           : at == (u64)quick_return_exact_store ? (u64)quick_return_exact_slow
           : at == (u64)cross_peek               ? (u64)cross_peeked
                                                 : 0;
}

void quick_set_returns(Thread *t) {
    t->quick.return_exact = quick_near(quick_return_exact);
    t->quick.return_expected = quick_keeps_flags() ? t->quick.return_exact : quick_near(quick_return_expected);
    t->quick.return_plain = quick_keeps_flags() ? t->quick.return_exact : quick_near(quick_return);
    t->quick.ret = t->quick.expected == EXPECTED_NOBODY ? t->quick.return_plain : t->quick.return_expected;
}

void quick_expect_nobody(Thread *t) {
    t->quick.expected = EXPECTED_NOBODY;
    quick_set_returns(t);
}

void quick_connect(Thread *t) {
    const void *const all[] = {(void *)quick_lookup,     (void *)quick_lookup_call, (void *)quick_lookup_jump,
                               (void *)quick_arrive,     (void *)quick_exit,        (void *)cross_back,
                               (void *)quick_interrupted};
    memcpy(t->quick.c, all, sizeof(all));
    t->quick.leave = quick_near(quick_leave);
    t->quick.call = quick_near(quick_call);
    t->quick.jump = quick_near(quick_jump);
    t->quick.cross_enter = cross_enter;
    t->quick.cross_leave = cross_leave;
    quick_expect_nobody(t);
    tables_init(t);
    t->quick.arena = the.code_base;
}

bool quick_works(void) {
    return true;
}

bool quick_is_between(const Thread *t, u64 host) {
    (void)t;
    u64 at = quick_original(host);
    return (at >= (u64)quick_start && at < (u64)quick_end) || (at >= (u64)cross_start && at < (u64)cross_end);
}

void quick_take_state(Thread *t, const struct SignalContext *s, const QuickPlace *place) {
    frame_take_general(&t->cpu, s);
    t->cpu.pc = place->pc;
    for (u32 i = 0; i < 2 && place->spilled[i] >= 0; i++)
        memcpy(&t->cpu.gp[place->spilled[i]], (u8 *)t + place->spill_off[i], 8);
    if (place->borrows_fs)
        __asm__ volatile("wrfsbase %0" : : "r"(t->quick.spill_rax));
    if (place->based >= 0)
        t->cpu.gp[place->based] -= t->cpu.gsbase;
}
