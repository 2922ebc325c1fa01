/* convert.h: conversions and approximations, as LLVM's vectoriser knows them, and as the CPU has them. */
#ifndef BINOPT_LLVM_CONVERT_H
#define BINOPT_LLVM_CONVERT_H

#include "binopt/llvm/unit/unit.h"

/* An instruction that LLVM has as an intrinsic of this CPU only stands in the way of vectorising the loop around it. Conversions from
 * floating point to integers become a comparison and LLVM's own conversion; with fast-math, approximate reciprocals become
 * divisions. True if u->spec was changed. */
bool convert_expand(Unit *u);

/* What is left of the former becomes the instructions that do it at once, vectors too. */
void convert_restore(Unit *u);

#endif
