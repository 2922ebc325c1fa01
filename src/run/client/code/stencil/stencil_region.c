/* stencil_region.c: see region.h.
 *
 * Stencils take up to twice as long as optimised code, and three times with floating point: that is for everything where time is spent. A loop without calls
 * is entered at its head while it runs; anything else by its function's next call, or, if the function is large and the server will translate only a part
 * of it, at the head of the innermost loop. */
#include "run/client/code/quick/region.h"

#include "isa/form.h"
#include "run/client/code/optimised/code.h"
#include "run/client/code/quick/callee.h"
#include "run/client/code/quick/cycle.h"
#include "run/client/code/quick/quick.h"

enum { REGION_INSNS = 1000 };

/* Loops gain more than this, and functions of interpreters less: perl, which spends a third of its time in such code and crosses 18,000 times in a millisecond, loses
 * a sixth by it. */
u32 region_gain(void) {
    return 50;
}

u32 region_crossing_ns(void) {
    return 16;
}

/* Optimised code takes half the time or less where the guest stays in it. */
u32 region_patience(void) {
    return 8;
}

static bool decode(u64 pc, Insn *in) {
    memset(in, 0, sizeof(*in));
    return form_decode((const u8 *)pc, quick_code_bytes(pc), pc, in) == LATHE_OK;
}

static bool look_at(u64 pc, Step *step) {
    Insn in;
    if (!decode(pc, &in))
        return false;
    *step = (Step){STEP_END, insn_end(&in), in.target};
    if (in.special)
        return true;
    if (in.flow == FLOW_NEXT)
        step->kind = STEP_ON;
    else if (in.flow == FLOW_BRANCH)
        step->kind = STEP_BRANCH;
    else if (in.flow == FLOW_JUMP)
        step->kind = STEP_JUMP;
    else if (in.flow == FLOW_CALL)
        step->kind = STEP_CALL;
    else if (in.flow == FLOW_RETURN)
        step->kind = STEP_RETURN;
    return true;
}

/* A call of a function that is translated together with its callers leads on. */
static bool look(u64 pc, Step *step) {
    if (!look_at(pc, step))
        return false;
    if (step->kind == STEP_CALL && callee_is_small(step->target, look_at))
        step->kind = STEP_ON;
    return true;
}

/* True if no instruction in [start, end) calls anything, jumps to a computed address, or leaves optimised code in another way. */
static bool stays(u64 start, u64 end) {
    Step step;
    u32 insns = 0;
    for (u64 pc = start; pc < end; pc = step.next)
        if (++insns > REGION_INSNS || !look(pc, &step) || step.kind == STEP_CALL || step.kind == STEP_END)
            return false;
    return true;
}

/* Whether the function that begins there has more instructions before pc than the server translates as a whole. */
static bool is_large(u64 function, u64 pc) {
    Insn in;
    u32 insns = 0;
    while (function < pc && insns <= REGION_INSNS && decode(function, &in))
        insns++, function = insn_end(&in);
    return insns > REGION_INSNS;
}

static u64 loop_without_calls(const QuickLoop *loops, u32 count, u64 pc) {
    for (u32 i = 0; i < count; i++)
        if (stays(loops[i].start, loops[i].end))
            return loops[i].start;
    return loops_scattered(loops, count, pc, look);
}

/* The first place that could have optimised code and has none yet. If the guest is found in quick code in spite of such code, it was in the function
 * or loop before, or that code is of a part only: the places where optimised code has gone over to quick code count as beginnings of
 * functions. */
u64 region_of(u64 pc) {
    QuickLoop loops[QUICK_LOOPS];
    u32 count = quick_loops(pc, loops);
    u64 function = quick_function(pc), innermost = count ? loops[0].start : 0;
    bool large = !function || is_large(function, pc);
    const u64 places[] = {loop_without_calls(loops, count, pc), large ? innermost : function,
                          large ? function : innermost};
    for (u32 i = 0; i < ARRAY_LEN(places); i++)
        if (places[i] && !code_is_settled(places[i]))
            return places[i];
    return 0;
}
