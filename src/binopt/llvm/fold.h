/* fold.h: what LLVM cannot know: which memory is constant, and what is in it. */
#ifndef BINOPT_LLVM_FOLD_H
#define BINOPT_LLVM_FOLD_H

#include "binopt/llvm/unit.h"

/* A fixed parameter's value as a constant of type t. A pointer into nested constant memory remembers that it is one. */
Val fold_parameter(Unit *u, const Param *p, Ty t);

/* One pass over u->spec: loads of constants, addresses in integer arithmetic, comparisons of known addresses. True if
 * something changed. */
bool fold_run(Unit *u);

/* Addresses become plain numbers; folding is over. */
void fold_finish(Unit *u);

#endif
