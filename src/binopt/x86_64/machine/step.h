/* step.h: one instruction that is no jump: what is known after it, and what is put down for it. */
#ifndef BINOPT_MACHINE_STEP_H
#define BINOPT_MACHINE_STEP_H

#include "binopt/x86_64/machine/graph.h"

void step_insn(Unit *u, State *s, const MachineInsn *in);

/* The address of a memory operand, as far as it is known. */
Value step_address(const State *s, const Mem *m);
/* What a memory operand or register that is jumped to has in it. */
Value step_target(Unit *u, const State *s, const MachineInsn *in);
/* Puts the memory operand's address into its shortest form. */
void step_plan_address(Unit *u, const State *s, Out *o);
/* Flags that a condition depends on. */
bool step_condition(const State *s, const MachineInsn *in, bool *holds);
/* An empty Out for the instruction. */
Out *step_put(Unit *u, const MachineInsn *in, OutKind kind);
/* Somebody out of sight may now read and write the frame. */
void step_escape(Unit *u, State *s);

#endif
