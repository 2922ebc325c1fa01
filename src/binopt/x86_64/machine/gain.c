/* gain.c: see gain.h.
 *
 * Every path through the new code corresponds to one through the original, with the same instructions except those that are gone. So the gain
 * can be counted block by block. A loop is assumed to run ten times. */
#include "binopt/x86_64/machine/gain.h"

#include "binopt/x86_64/machine/live.h"

/* The weight of an instruction, and the gain if it becomes a constant, or if one of its operands does. */
enum { WHOLE = 4, CONSTANT = 2, OPERAND = 1, PASSES = 10, MAX_DEPTH = 4, LEAST_PART = 32 };

static bool has_shorter_address(const OutInsn *o) {
    return o->address != ADDRESS_KEPT && o->in->mem.base != PC_REG;
}

static i64 gain_of(const OutInsn *o) {
    if (o->kind == OUT_CONST)
        return o->dead ? 0 : -WHOLE;
    if (o->dead || o->kind == OUT_ENTER || o->kind == OUT_RETURN)
        return WHOLE;
    if (live_is_constant(o))
        return CONSTANT;
    if (live_is_product(o))
        return WHOLE;
    bool direct = o->kind == OUT_CALL && o->address == ADDRESS_KNOWN && o->in->indirect;
    if (direct)
        return CONSTANT;
    return o->kind == OUT_INSN && (o->number_op || o->swaps || has_shorter_address(o)) ? OPERAND : 0;
}

/* 1 if the block ends with an instruction that stays, otherwise 0. */
static u32 last_of(const MachineBlock *b) {
    return b->end == END_BRANCH || b->end == END_RETURN || b->end == END_INDIRECT;
}

static i64 weight_of(const MachineBlock *b) {
    i64 weight = 1;
    for (u32 i = 0; i < b->depth && i < MAX_DEPTH; i++)
        weight *= PASSES;
    return weight;
}

bool gain_is_enough(const MachineUnit *u, const BlockOrder *order) {
    i64 gained = 0, all = 0;
    for (size_t i = 0; i < order->list.len; i++) {
        const MachineBlock *b = &u->blocks.at[order->list.at[i]];
        i64 gone = WHOLE * (i64)b->followed, count = WHOLE * (i64)(b->followed + last_of(b));
        for (u32 k = 0; k < b->out_count; k++) {
            gone += gain_of(&b->out[k]);
            count += b->out[k].kind == OUT_CONST ? 0 : WHOLE;
        }
        gained += gone * weight_of(b);
        all += count * weight_of(b);
    }
    return gained > 0 && gained * LEAST_PART >= all;
}
