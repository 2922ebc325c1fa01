/* frame.h: how much stack a function uses, from its instructions. */
#ifndef BINOPT_LLVM_FRAME_H
#define BINOPT_LLVM_FRAME_H

#include "lift/func.h"

/* Adds to `bytes` what the decoded function pushes and reserves at most. A sentence if that cannot be said, or if it has
 * instructions that need more of the machine than registers and memory. */
const char *frame_check(const LatheFunc *fn, u64 *bytes);

#endif
