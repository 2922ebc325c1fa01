/* nowrap.h: for BINOPT_F_NOWRAP: signed 32-bit arithmetic for an index does not overflow. */
#ifndef BINOPT_LLVM_NOWRAP_H
#define BINOPT_LLVM_NOWRAP_H

#include "binopt/llvm/unit/llvm_unit.h"

/* Marks such arithmetic in u->spec: values that are computed in 32 bits and then sign-extended to 64. */
void nowrap_mark(LlvmUnit *u);

#endif
