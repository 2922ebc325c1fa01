/* lift.h: lifts machine code into the module, with all functions that it calls directly and that are worth it. */
#ifndef BINOPT_LLVM_LIFT_H
#define BINOPT_LLVM_LIFT_H

#include "binopt/llvm/unit/llvm_unit.h"

/* Returns a function of the module, void(ptr cpu), that does what the code at pc does, or NULL with the reason in
 * u->why. A trap of the guest becomes a trap of the host. The result is valid until the module is optimised. */
Val lift_function(LlvmUnit *u, u64 pc);

/* Lifts functions that are called out to although their address is known, if the configuration wants that. Returns true
 * if something changed. */
bool lift_known_callouts(LlvmUnit *u);

/* The same for calls through a pointer that was kept in memory where other code may have changed it, if it can only
 * have been one function: the pointer is compared with that function's address. */
bool lift_likely_callouts(LlvmUnit *u);

/* True if the machine code at pc may have arguments on the stack. The code that was read to find out is recorded as a
 * dependency. */
bool lift_has_stack_arguments(LlvmUnit *u, u64 pc);

/* Called after the module was optimised, because lifted functions may have been removed. */
void lift_forget(LlvmUnit *u);

#endif
