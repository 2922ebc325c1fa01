/* unshared.h: marks accesses that cannot be to the guest's stack. */
#ifndef BINOPT_LLVM_UNSHARED_H
#define BINOPT_LLVM_UNSHARED_H

#include "binopt/llvm/unit/llvm_unit.h"

/* Tells LLVM that loads and stores through other pointers are not to the stack, as long as no address of the stack was
 * stored, passed on or made a number. LLVM sees that itself for a single pointer, but not for one that a loop carries:
 * then values that were saved on the stack, such as a pointer to a known function, become unknown at each store.
 * Returns true if something changed. */
bool unshared_mark(LlvmUnit *u);

#endif
