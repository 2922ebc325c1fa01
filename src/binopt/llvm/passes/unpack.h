/* unpack.h: loops over pixels whose channels are in a vector become loops over scalars. */
#ifndef BINOPT_LLVM_UNPACK_H
#define BINOPT_LLVM_UNPACK_H

#include "binopt/llvm/unit/llvm_unit.h"

/* If a compiler has put neighbouring scalars of one iteration into a vector (SLP), and the rest of the iteration is
 * scalar, LLVM cannot vectorise over iterations, which it does only for loops over scalars. Such vectors become
 * scalars. If that does not help, LLVM puts them together again. Returns true if u->spec was changed. */
bool unpack_vectors(LlvmUnit *u);

#endif
