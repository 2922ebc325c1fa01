/* frame.h: how much stack a function uses, from its instructions. */
#ifndef BINOPT_LLVM_FRAME_H
#define BINOPT_LLVM_FRAME_H

#include "lift/func.h"

/* Adds to `bytes` what the decoded function pushes and reserves at most. Why that cannot be said, or
 * that an instruction needs more of the machine than registers and memory, or has no meaning: *odd is the instruction then. NULL: it can. */
const char *frame_check(const LatheFunc *fn, u64 *bytes, const Insn **odd);

#endif
