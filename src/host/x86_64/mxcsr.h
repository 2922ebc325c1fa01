/* mxcsr.h: the host's register of rounding and of exceptions, for lifted code of guests of another kind. */
#ifndef HOST_X86_64_MXCSR_H
#define HOST_X86_64_MXCSR_H

#include "ir/ir.h"

/* SDM 1, 10.2.3 */
enum {
    MXCSR_FLAGS = 0x3f,
    MXCSR_ROUNDING = 0x6000,
    MXCSR_ROUNDING_SHIFT = 13,
    MXCSR_FLUSHES = 0x8040,
    MXCSR_MASKED = 0x1f80
};

/* As I32. LLVM knows what these two do to the environment, and keeps constrained operations on their side of them. They go through a word of the guest state that is there for
 * this. */
Val x86_64_get_mxcsr(Lifter *l, u32 scratch_off);
void x86_64_set_mxcsr(Lifter *l, u32 scratch_off, Val v);

#endif
