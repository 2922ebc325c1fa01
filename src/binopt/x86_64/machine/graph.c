/* graph.c: see graph.h. */
#include "binopt/x86_64/machine/graph.h"

i32 graph_add(MachineUnit *u, u64 pc, u32 frame, const State *s) {
    MachineBlock b = {.pc = pc, .frame = frame, .forward = NO_BLOCK, .next = {NO_BLOCK, NO_BLOCK}};
    b.in = arena_alloc(&u->arena, offsetof(State, slot) + s->slot_count * sizeof(Slot)); /* merging never adds slots */
    state_copy(b.in, s);
    VEC_PUSH(&u->blocks, b);
    return (i32)u->blocks.len - 1;
}

i32 graph_resolve(const MachineUnit *u, i32 block) {
    while (block != NO_BLOCK && u->blocks.at[block].forward != NO_BLOCK)
        block = u->blocks.at[block].forward;
    return block;
}

u32 graph_constant(MachineUnit *u, const u8 *bytes, u32 size) {
    u8 whole[VEC_BYTES] = {0};
    memcpy(whole, bytes, size);
    for (u32 i = 0; i < u->pool.len; i += VEC_BYTES)
        if (!memcmp(u->pool.at + i, whole, VEC_BYTES))
            return i;
    VEC_RESERVE(&u->pool, VEC_BYTES);
    memcpy(u->pool.at + u->pool.len, whole, VEC_BYTES);
    u->pool.len += VEC_BYTES;
    return (u32)u->pool.len - VEC_BYTES;
}
