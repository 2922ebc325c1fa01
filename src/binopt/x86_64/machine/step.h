/* step.h: one instruction that is not a jump: what is known after it, and what is written for it. */
#ifndef BINOPT_MACHINE_STEP_H
#define BINOPT_MACHINE_STEP_H

#include "binopt/x86_64/machine/graph.h"

void step_insn(MachineUnit *u, State *s, const MachineInsn *in);

/* The address of a memory operand, as far as it is known. */
Value step_address(const State *s, const Mem *m);
/* The content of the memory operand or register that is jumped to. */
Value step_target(MachineUnit *u, const State *s, const MachineInsn *in);
/* Gives the memory operand's address its shortest form. */
void step_plan_address(MachineUnit *u, const State *s, OutInsn *o);
/* Finds out whether a condition holds. Returns false if the flags that it depends on are not known. */
bool step_condition(const State *s, const MachineInsn *in, bool *holds);
/* Adds an empty OutInsn for the instruction. */
OutInsn *step_put(MachineUnit *u, const MachineInsn *in, OutKind kind);

#endif
