/* convert.h: replaces conversions and approximations of the CPU by forms that LLVM's vectoriser knows, and back. */
#ifndef BINOPT_LLVM_CONVERT_H
#define BINOPT_LLVM_CONVERT_H

#include "binopt/llvm/unit/llvm_unit.h"

/* An instruction that LLVM knows only as an intrinsic of this CPU prevents vectorising the loop around it. Conversions
 * from floating point to integers become a comparison and LLVM's own conversion; with fast-math, approximate
 * reciprocals become divisions. Returns true if u->spec was changed. */
bool convert_expand(LlvmUnit *u);

/* Replaces expanded conversions, vectors included, by the CPU's instructions again. */
void convert_restore(LlvmUnit *u);

#endif
