/* walk.h: follows the original's instructions from the start of a block to the next jump that is not known. */
#ifndef BINOPT_MACHINE_WALK_H
#define BINOPT_MACHINE_WALK_H

#include "binopt/x86_64/machine/graph.h"

/* The decisions of a rewriter: which block belongs to an address and a state, and where blocks have to begin. */
typedef struct Policy {
    void *self;
    i32 (*target)(void *self, MachineUnit *u, u64 pc, u32 frame, const State *s, u32 unknowns);
    bool (*splits)(void *self, MachineUnit *u, u64 pc, u32 frame);
    /* Called before a branch: it goes to `to`, or both ways if that is NULL. */
    void (*branches)(void *self, MachineUnit *u, const MachineInsn *in, u32 frame, const u64 *to);
} Policy;

/* Writes the block's instructions, and asks the policy for the blocks behind it. */
void walk_block(MachineUnit *u, const Policy *p, i32 block);

#endif
