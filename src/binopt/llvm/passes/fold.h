/* fold.h: what LLVM cannot know: which memory is constant, and what is in it. */
#ifndef BINOPT_LLVM_FOLD_H
#define BINOPT_LLVM_FOLD_H

#include "binopt/llvm/unit/unit.h"

/* A fixed parameter's value as a constant of type t. A pointer into nested constant memory remembers that it is one. */
Val fold_parameter(Unit *u, const Param *p, Ty t);

/* One pass over u->spec: loads of constants, addresses in integer arithmetic, comparisons of known addresses. True if
 * something changed. */
bool fold_run(Unit *u);

/* Addresses become plain numbers; folding is over. */
void fold_finish(Unit *u);

/* The pointer that this integer was made from, or that it is; NULL if it is neither. */
Val fold_pointer(Unit *u, Val v);

/* Is this place known, and constant memory? */
bool fold_can_load(Unit *u, Val base, i64 offset);

#endif
