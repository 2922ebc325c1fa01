/* pool.h: compilers that are not in use. Preparing LLVM costs more than compiling a small function, so a compiler that
 * one handle prepared serves the next one, in any thread. */
#ifndef BINOPT_LLVM_POOL_H
#define BINOPT_LLVM_POOL_H

#include <lathe/lift.h>

/* A compiler for the caller alone; NULL if there is no memory for code. */
LatheJit *pool_take(void);
void pool_give(LatheJit *jit);

#endif
