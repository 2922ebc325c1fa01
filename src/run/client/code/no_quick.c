/* no_quick.c: in place of a maker of quick code, for guests that have none on this host: all code is optimised (--tier=opt), and nobody gets to what is here but to
 * ask whether there is quick code. */
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/emit.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/quick/region.h"

bool quick_works(void) {
    return false;
}

/* These are asked or told on any host. */
bool quick_has_map(void) {
    return false;
}

bool quick_is_stale(void) {
    return false;
}

bool quick_keeps_flags(void) {
    return true;
}

bool quick_is_between(const Thread *t, u64 host) {
    return (void)t, (void)host, false;
}

bool quick_detour(struct SignalContext *s) {
    return (void)s, false;
}

bool emit_is_entered(const u8 *code) {
    return (void)code, false;
}

#define TOLD(name, ...)                                                                                                \
    void name(__VA_ARGS__) {                                                                                           \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
TOLD(emit_prepare, void)
TOLD(emit_forget_all, void)
TOLD(quick_connect_maker, Thread *t)
TOLD(quick_expect_nobody, Thread *t)
TOLD(quick_keep_flags, bool anew)
TOLD(quick_keep_registers, void)
TOLD(quick_show_flags, void)

/* And these belong to code that is never made. */
const u32 emit_entry_bytes = 0;
#define NEVER(type, name, ...)                                                                                         \
    type name(__VA_ARGS__) {                                                                                           \
        CHECK(false, "there is no quick code on this host");                                                           \
    }
NEVER(void, emit_entry, Emitter *e)
NEVER(EmitResult, emit_next, Emitter *e, u64 bytes, u64 *next)
NEVER(bool, emit_linkage, u64 pc, u8 *site, u64 *target)
NEVER(void, emit_set_linkage, u8 *site, u64 target)
NEVER(EmitLoop, emit_loop_begin, Emitter *e, u64 bytes)
NEVER(void, emit_loop_count, Emitter *e, u64 bytes)
NEVER(void, emit_loop_end, Emitter *e, u64 bytes, const EmitLoop *loop)
NEVER(EmitVisited, emit_visit, Emitter *e, const EmitVisit *visit)
NEVER(void, emit_give_back, Emitter *e, const InsnView *next)
NEVER(void, emit_note_aside, const u8 *code, u32 registers)
NEVER(bool, emit_has_all, const u8 *code)
NEVER(bool, emit_target, const InsnView *view, EmitValue *value)
NEVER(void, emit_rest, Emitter *e)
NEVER(EmitCount, emit_count, Emitter *e, u32 off, bool small)
NEVER(void, emit_set_amount, const EmitCount *count, i32 amount)
NEVER(void, emit_set_off, const EmitCount *count, u32 off)
NEVER(u8 *, emit_jump, Emitter *e)
NEVER(u8 *, emit_switch, Emitter *e, bool over)
NEVER(u64, emit_begin_switch, u8 *place, const u8 *target)
NEVER(void, emit_end_switch, u8 *place, u64 bytes)
NEVER(bool, emit_can_switch, u64 pc, u64 bytes)
NEVER(u8 *, emit_cross, const u8 *target, bool to_quick)
NEVER(void, emit_leave, Emitter *e, u32 exit)
NEVER(void, emit_leave_if_asked, Emitter *e, u32 exit)
NEVER(void, emit_note_spills, struct QuickPlace *place, const u8 *code, u64 host)
NEVER(void, quick_take_state, Thread *t, const struct SignalContext *s, const QuickPlace *place)
NEVER(u64, region_of, u64 pc)
NEVER(u32, region_gain, void)
NEVER(u32, region_crossing_ns, void)
NEVER(u32, region_patience, void)
