/* spread.h: lanes of vectors that were composed from scalars become scalars again. */
#ifndef BINOPT_LLVM_SPREAD_H
#define BINOPT_LLVM_SPREAD_H

#include "binopt/llvm/unit/llvm_unit.h"

/* A compiler that vectorised a short loop left vectors of indices and of partial sums. When the loop is unrolled for
 * known data they are an obstacle, because LLVM vectorises only loops over scalars. Returns true if u->spec was
 * changed. */
bool spread_lanes(LlvmUnit *u);

#endif
