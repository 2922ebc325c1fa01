/* pointers.h: integers that are addresses become pointers. */
#ifndef BINOPT_LLVM_POINTERS_H
#define BINOPT_LLVM_POINTERS_H

#include "binopt/llvm/unit/unit.h"

/* A register is an integer, and an address that was computed in registers could lead anywhere, for LLVM: no loop that
 * increments one is vectorised, and no table is recognised in it. True if u->spec was changed. */
bool pointers_find(Unit *u);

#endif
