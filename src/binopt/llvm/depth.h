/* depth.h: where the stack pointer is at a function's computed jumps. */
#ifndef BINOPT_LLVM_DEPTH_H
#define BINOPT_LLVM_DEPTH_H

#include "lift/func.h"

/* A computed jump whose targets are not known is a tail call if the stack is as at the function's entry, and then is handled like
 * a call. Are all of them? If not, they may lead anywhere in the function. */
bool depth_jumps_are_calls(const LatheFunc *fn);

/* An instruction that refers to more than `height` bytes above where the stack pointer is at the entry, as far as that can be seen; NULL:
 * there is none. The return address is there, and then the arguments that have no register. */
const Insn *depth_find_above(const LatheFunc *fn, i64 height);

#endif
