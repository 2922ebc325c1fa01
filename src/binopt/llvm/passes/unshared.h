/* unshared.h: accesses that cannot be to the guest's stack. */
#ifndef BINOPT_LLVM_UNSHARED_H
#define BINOPT_LLVM_UNSHARED_H

#include "binopt/llvm/unit/unit.h"

/* Says of loads and stores through other pointers that they are not to the stack, as long as no address of the stack has been stored,
 * passed on or made a number. LLVM sees that by itself for a single pointer, but not for one that loops carry: then registers that were
 * saved on the stack, such as the pointer to a known function, are forgotten at each store. True if something changed. */
bool unshared_mark(Unit *u);

#endif
