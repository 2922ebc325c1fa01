/* fold.h: tells LLVM what it cannot know: which memory is constant, and its content. */
#ifndef BINOPT_LLVM_FOLD_H
#define BINOPT_LLVM_FOLD_H

#include "binopt/llvm/unit/llvm_unit.h"

/* A fixed parameter's value as a constant of type t. If it points to nested constant memory, the constant shows that. */
Val fold_parameter(LlvmUnit *u, const Param *p, Ty t);

/* One pass over u->spec: folds loads of constants, addresses in integer arithmetic, and comparisons of known addresses.
 * Returns true if something changed. */
bool fold_run(LlvmUnit *u);

/* Turns addresses into plain numbers. Nothing can be folded afterwards. */
void fold_finish(LlvmUnit *u);

/* The pointer that this integer was made from; NULL: it was not made from one. */
Val fold_pointer(LlvmUnit *u, Val v);

/* True if this address is known and constant memory. */
bool fold_can_load(LlvmUnit *u, Val base, i64 offset);

#endif
