/* nowrap.h: BINOPT_F_NOWRAP: signed 32-bit arithmetic that makes up an index does not overflow. */
#ifndef BINOPT_LLVM_NOWRAP_H
#define BINOPT_LLVM_NOWRAP_H

#include "binopt/llvm/unit/unit.h"

/* Marks what is computed in 32 bits and then sign-extended to 64, in u->spec. */
void nowrap_mark(Unit *u);

#endif
