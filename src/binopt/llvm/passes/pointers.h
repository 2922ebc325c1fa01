/* pointers.h: integers that are addresses become pointers. */
#ifndef BINOPT_LLVM_POINTERS_H
#define BINOPT_LLVM_POINTERS_H

#include "binopt/llvm/unit/llvm_unit.h"

/* Registers are integers, so for LLVM an address that was computed in registers could lead anywhere: it vectorises no
 * loop that increments one, and recognises no table there. Returns true if u->spec was changed. */
bool pointers_find(LlvmUnit *u);

#endif
