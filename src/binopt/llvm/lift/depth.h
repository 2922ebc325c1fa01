/* depth.h: checks the stack pointer at a function's computed jumps and returns. */
#ifndef BINOPT_LLVM_DEPTH_H
#define BINOPT_LLVM_DEPTH_H

#include "lift/func.h"

/* Returns what is wrong with the function's computed jumps and returns, or NULL.
 *
 * A computed jump with unknown targets is lifted like a call that nothing follows, after which most registers are undefined. So it must be
 * proved to be a tail call: the stack is as at the function's entry, nothing was added to the target pointer, and there is no place in the
 * function that it could lead to (labels.h). Returns must find the return address that the caller has left; if they do not, *astray is
 * set. */
const char *depth_check(LatheFunc *fn, bool *astray);

/* An instruction that refers to an address more than `height` bytes above the stack pointer of the entry, as far as
 * that can be seen, or NULL. The return address is there, followed by arguments that have no register. */
const Insn *depth_find_above(const LatheFunc *fn, i64 height);

/* True if the function may use its caller's stack above the return address, where arguments are if there are more than
 * registers can hold. An address of that part can only come from a register whose height is known, so the instruction
 * that makes the address is recognised. */
bool depth_has_stack_arguments(const LatheFunc *fn);

#endif
