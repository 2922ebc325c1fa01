/* lower.h: calls out become machine calls. */
#ifndef BINOPT_LLVM_LOWER_H
#define BINOPT_LLVM_LOWER_H

#include "binopt/llvm/unit/unit.h"

/* The guest's stack; NULL: nothing is there that LLVM could not keep elsewhere. */
Val lower_find_stack(Unit *u);

/* Gives it the size it needs instead of that it was made with. */
void lower_fit_stack(Unit *u);

/* Replaces all calls out of u->spec; afterwards the module can be compiled, unless u->hopeless says otherwise. */
void lower_callouts(Unit *u);

#endif
