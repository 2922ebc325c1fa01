/* copy_region.c: see region.h.
 *
 * Copied code is as fast as the guest's own, except for calls, returns and computed jumps, and crossing between the tiers costs as much as some of
 * these. So optimised code is for code in which the guest stays: loops without calls, which are entered at their head while they run, and functions
 * that call only themselves. */
#include "run/client/code/quick/region.h"

#include "isa/x86_64/shape.h"
#include "run/client/code/optimised/code.h"
#include "run/client/code/quick/callee.h"
#include "run/client/code/quick/cycle.h"
#include "run/client/code/quick/quick.h"
#include "run/client/tool/sites.h"

/* True if a tool's functions are called between the guest's instructions each time. They take most of the time then, and a tenth to a third less of it in
 * optimised code, so everything where time is spent gets optimised code. */
static bool is_watched(void) {
    return sites_call_often();
}

u32 region_gain(void) {
    return is_watched() ? 10 : 2;
}

/* A crossing stores and loads most of the guest's state. With a tool it costs more: calls do not go directly past PLTs, and returns are looked up. */
u32 region_crossing_ns(void) {
    return is_watched() ? 60 : 30;
}

/* Optimised code gains little, or nothing, unless the guest stays in it. */
u32 region_patience(void) {
    return is_watched() ? 12 : 20;
}

enum { REGION_INSNS = 1000 };

static bool look_at(u64 pc, Step *step) {
    Shape s;
    if (!shape_of((const u8 *)pc, quick_code_bytes(pc), &s))
        return false;
    u64 next = pc + s.length;
    *step = (Step){STEP_ON, next, next + (u64)s.target};
    if (s.kind == SHAPE_JCC)
        step->kind = STEP_BRANCH;
    else if (s.kind == SHAPE_JMP)
        step->kind = STEP_JUMP;
    else if (s.kind == SHAPE_CALL)
        step->kind = STEP_CALL;
    else if (s.kind == SHAPE_CALL_INDIRECT)
        step->kind = STEP_CALL, step->target = 0;
    else if (s.kind == SHAPE_RET)
        step->kind = STEP_RETURN;
    else if (s.kind != SHAPE_PLAIN || s.vector)
        step->kind = STEP_END;
    return true;
}

/* True if the guest stays in [start, end): there is no call except of `self` and of small functions, no system call, and no vector instruction for
 * which the lifter has no row. *jumps: there is a computed jump. */
static bool stays(u64 start, u64 end, u64 self, bool *jumps) {
    Shape s;
    u32 insns = 0;
    *jumps = false;
    for (u64 pc = start; pc < end; pc += s.length) {
        if (++insns > REGION_INSNS || !shape_of((const u8 *)pc, quick_code_bytes(pc), &s))
            return false;
        u64 target = pc + s.length + (u64)s.target;
        bool calls = s.kind == SHAPE_CALL && target != self && !callee_is_small(target, look_at);
        if (calls || s.kind == SHAPE_CALL_INDIRECT || s.kind == SHAPE_SYSCALL || s.kind == SHAPE_OTHER || s.vector)
            return false;
        *jumps |= s.kind == SHAPE_JMP_INDIRECT;
    }
    return true;
}

/* Where a function ends: at the first return or jump beyond which no earlier jump of the function leads. 0: not found. */
static u64 function_end(u64 start, bool *recursive) {
    Shape s;
    u64 furthest = start;
    *recursive = false;
    for (u64 pc = start, insns = 0; insns < REGION_INSNS && shape_of((const u8 *)pc, quick_code_bytes(pc), &s);
         insns++) {
        u64 next = pc + s.length, target = next + (u64)s.target;
        *recursive |= s.kind == SHAPE_CALL && target == start;
        if ((s.kind == SHAPE_JCC || s.kind == SHAPE_JMP) && target > furthest && target < start + PAGE)
            furthest = target;
        if ((s.kind == SHAPE_RET || s.kind == SHAPE_JMP) && furthest <= pc)
            return next;
        pc = next;
    }
    return 0;
}

/* Where optimised code for the loop around pc should begin; 0: nowhere. The server understands a computed jump only if it sees how its table is
 * prepared, which is before the loop: then the whole function is optimised, and entered at its next call. If the code of a loop was given up, perhaps
 * because it was left often, the loop around it has its chance. */
static u64 loop_of(u64 pc, u64 function) {
    QuickLoop loops[QUICK_LOOPS];
    u32 count = quick_loops(pc, loops);
    bool jumps;
    for (u32 i = 0; i < count; i++) {
        u64 place = stays(loops[i].start, loops[i].end, 0, &jumps) ? (jumps ? function : loops[i].start) : 0;
        if (place && !code_is_given_up(place))
            return place;
    }
    return loops_scattered(loops, count, pc, look_at);
}

/* The first place that could have optimised code and has none yet. */
static u64 watched_region_of(u64 pc) {
    QuickLoop loops[QUICK_LOOPS];
    u64 function = quick_function(pc);
    const u64 places[] = {loop_of(pc, function), function, quick_loops(pc, loops) ? loops[0].start : 0};
    for (u32 i = 0; i < ARRAY_LEN(places); i++)
        if (places[i] && !code_is_settled(places[i]))
            return places[i];
    return 0;
}

u64 region_of(u64 pc) {
    if (is_watched())
        return watched_region_of(pc);
    u64 end, function = quick_function(pc), loop = loop_of(pc, function);
    bool jumps, recursive;
    if (loop)
        return loop;
    end = function ? function_end(function, &recursive) : 0;
    return end > pc && recursive && stays(function, end, function, &jumps) ? function : 0;
}
