/* spread.h: lanes of vectors that were put together from scalars become scalars again. */
#ifndef BINOPT_LLVM_SPREAD_H
#define BINOPT_LLVM_SPREAD_H

#include "binopt/llvm/unit/unit.h"

/* A compiler that vectorised a short loop left vectors of indices and of partial sums. Once the loop is unrolled for known data
 * they are in the way: LLVM vectorises loops over scalars only. True if u->spec was changed. */
bool spread_lanes(Unit *u);

#endif
