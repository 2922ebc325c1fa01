/* live.h: finds out what of a graph is needed: registers, flags and slots of the frame that are read later. */
#ifndef BINOPT_MACHINE_LIVE_H
#define BINOPT_MACHINE_LIVE_H

#include "binopt/x86_64/machine/graph.h"

/* Marks the blocks that are reached, and joins blocks that always follow each other. */
void live_join_blocks(MachineUnit *u);

/* Sets live, dead, frame_dead and is_index of all instructions in reached blocks, and live_in of these blocks. */
void live_run(MachineUnit *u);

/* True if only the constants that it makes have to be put into their registers. */
static inline bool live_is_constant(const OutInsn *o) {
    return o->known && !o->effect && !(o->store && !o->frame_dead) && !(o->writes & o->live & ALL_FLAGS);
}

/* True if it is computed from its second operand (Turn). With VEX instructions a register has more than two halves, so
 * this is not done. */
static inline bool live_is_turned(const MachineUnit *u, const OutInsn *o) {
    return o->turns && !u->newer && !(o->upper >> (o->in->op[0].no - XMM0) & 1);
}

/* True if it is a division that becomes a product. */
static inline bool live_is_product(const OutInsn *o) {
    return o->divides && !(o->live & BIT(RDX));
}

/* Registers that must have their values at the block's end. */
Regs live_at_end(const MachineUnit *u, const MachineBlock *b);

#endif
