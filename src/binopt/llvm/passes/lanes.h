/* lanes.h: vectors of which only the low lane is looked at become scalars. */
#ifndef BINOPT_LLVM_LANES_H
#define BINOPT_LLVM_LANES_H

#include "binopt/llvm/unit/unit.h"

/* Scalar floating point lives in vector registers, and where a call out takes and returns them whole, so does the loop around
 * it, which LLVM then does not see to be one over scalars. True if u->spec was changed. */
bool lanes_narrow(Unit *u);

#endif
