/* lift.h: machine code into the module, with everything that it calls directly and that is worth it. */
#ifndef BINOPT_LLVM_LIFT_H
#define BINOPT_LLVM_LIFT_H

#include "binopt/llvm/unit/unit.h"

/* A function of the module, void(ptr cpu), that does what the code at pc does; NULL if there will be none, and u->why says why.
 * A trap of the guest is one of the host. Good until the module is optimised. */
Val lift_function(Unit *u, u64 pc);

/* Lifts what is called out to although its address is known, where that is wanted. True if something changed. */
bool lift_known_callouts(Unit *u);

/* The same for calls through a pointer that was kept in memory where others may have changed it, if there is one
 * function only that it can have been: it is compared with that. */
bool lift_likely_callouts(Unit *u);

/* May the machine code at pc have arguments on the stack? What was read to find out is noted as a dependency. */
bool lift_has_stack_arguments(Unit *u, u64 pc);

/* After the module was optimised: functions made by now may be gone. */
void lift_forget(Unit *u);

#endif
