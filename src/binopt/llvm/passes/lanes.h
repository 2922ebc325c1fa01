/* lanes.h: vectors of which only the low lane is used become scalars. */
#ifndef BINOPT_LLVM_LANES_H
#define BINOPT_LLVM_LANES_H

#include "binopt/llvm/unit/llvm_unit.h"

/* Scalar floating-point values are in vector registers. If a call out takes and returns them whole, the loop around it
 * contains vectors, and LLVM does not see that it works on scalars. Returns true if u->spec was changed. */
bool lanes_narrow(LlvmUnit *u);

#endif
