/* unpack.h: loops over pixels with their channels in a vector become loops over scalars. */
#ifndef BINOPT_LLVM_UNPACK_H
#define BINOPT_LLVM_UNPACK_H

#include "binopt/llvm/unit/unit.h"

/* Where a compiler has put neighbouring scalars of one round into a vector (SLP), and the rest of the round is scalar, LLVM
 * cannot vectorise over rounds, which it does for loops over scalars only. Such vectors become scalars. If nothing comes of it LLVM
 * puts them together again. True if u->spec was changed. */
bool unpack_vectors(Unit *u);

#endif
