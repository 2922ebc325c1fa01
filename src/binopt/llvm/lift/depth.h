/* depth.h: where the stack pointer is at a function's computed jumps and returns. */
#ifndef BINOPT_LLVM_DEPTH_H
#define BINOPT_LLVM_DEPTH_H

#include "lift/func.h"

/* What is wrong with the function's computed jumps and returns, or NULL.
 *
 * A computed jump whose targets are not known is handled like a call that nothing follows, which loses most registers. So it
 * has to be shown that it is a tail call: the stack is as at the function's entry, the target is a pointer that nothing was
 * added to, and there is no place in the function that it could lead to (labels.h). Returns have to find the return address
 * that the caller has left; if they do not, *astray is set. */
const char *depth_check(LatheFunc *fn, bool *astray);

/* An instruction that refers to more than `height` bytes above where the stack pointer is at the entry, as far as that can be seen; NULL:
 * there is none. The return address is there, and then the arguments that have no register. */
const Insn *depth_find_above(const LatheFunc *fn, i64 height);

/* May the function look at what its caller has above the return address? Its arguments are there if it has more than registers can
 * take. An address of that part of the stack can only come from a register whose height is known, so this is seen where it is made. */
bool depth_has_stack_arguments(const LatheFunc *fn);

#endif
