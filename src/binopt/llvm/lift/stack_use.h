/* stack_use.h: how much stack a function uses, from its instructions. */
#ifndef BINOPT_LLVM_STACK_USE_H
#define BINOPT_LLVM_STACK_USE_H

#include "lift/func.h"

/* Adds the most bytes that the decoded function pushes and reserves to *bytes, and returns NULL. Returns a reason if
 * that number cannot be known, or if an instruction needs more of the machine than registers and memory or has no
 * meaning; *odd is that instruction. */
const char *stack_use_check(const LatheFunc *fn, u64 *bytes, const Insn **odd);

#endif
