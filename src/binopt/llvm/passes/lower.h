/* lower.h: calls out become machine calls. */
#ifndef BINOPT_LLVM_LOWER_H
#define BINOPT_LLVM_LOWER_H

#include "binopt/llvm/unit/llvm_unit.h"

/* The guest's stack; NULL: LLVM can keep everything elsewhere. */
Val lower_find_stack(LlvmUnit *u);

/* Reduces the guest's stack from the size that it was made with to the size that it needs. */
void lower_fit_stack(LlvmUnit *u);

/* Replaces all calls out of u->spec. Afterwards the module can be compiled, unless u->hopeless is set. */
void lower_callouts(LlvmUnit *u);

#endif
