/* live.h: what of a graph is needed: registers, flags and places in the frame that are read later. */
#ifndef BINOPT_MACHINE_LIVE_H
#define BINOPT_MACHINE_LIVE_H

#include "binopt/x86_64/machine/graph.h"

/* Marks blocks that are reached, and puts together those that always follow each other. */
void live_join_blocks(Unit *u);

/* Fills in live, dead and frame_dead of all instructions in blocks that are reached, and live_in of those. */
void live_run(Unit *u);

/* Is it enough to put the constants that it makes into their registers? */
static inline bool live_is_constant(const Out *o) {
    return o->known && !o->effect && !(o->store && !o->frame_dead) && !(o->writes & o->live & ALL_FLAGS);
}

/* Is it made from its second operand? Where there are new vector instructions, there is more than two halves to a register. */
static inline bool live_is_turned(const Unit *u, const Out *o) {
    return o->turns && !u->newer && !(o->upper >> (o->in->op[0].no - XMM0) & 1);
}

/* Is it a multiplication? */
static inline bool live_is_product(const Out *o) {
    return o->divides && !(o->live & BIT(RDX));
}

/* Registers that must have their values before the block's end. */
Regs live_at_end(const Unit *u, const Block *b);

#endif
