/* walk.h: through the original's instructions from one block's start to the next jump that is not known. */
#ifndef BINOPT_MACHINE_WALK_H
#define BINOPT_MACHINE_WALK_H

#include "binopt/x86_64/machine/graph.h"

/* Where a rewriter decides: which block an address with a state is, and where blocks have to begin. */
typedef struct Policy {
    void *self;
    i32 (*target)(void *self, Unit *u, u64 pc, u32 frame, const State *s, u32 unknowns);
    bool (*splits)(void *self, Unit *u, u64 pc, u32 frame);
    /* Before a branch: it goes to `to`, or with NULL both ways. */
    void (*branches)(void *self, Unit *u, const MachineInsn *in, u32 frame, const u64 *to);
} Policy;

/* Puts down the block's instructions and asks the policy for those behind it. */
void walk_block(Unit *u, const Policy *p, i32 block);

#endif
