/* pool.h: compilers that are not in use. Making LLVM ready costs more than compiling a small function, so what one handle made
 * ready serves the next, in whatever thread. */
#ifndef BINOPT_LLVM_POOL_H
#define BINOPT_LLVM_POOL_H

#include <lathe/lift.h>

/* A compiler for the caller alone; NULL if there is no memory for code. */
LatheJit *pool_take(void);
void pool_give(LatheJit *jit);

#endif
