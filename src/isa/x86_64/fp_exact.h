/* fp_exact.h: strict floating point by the very instruction.
 *
 * LLVM may commute an addition, which changes the NaN that x86 returns; it has no operation for min, dpps or an
 * out-of-range conversion with their exception flags; and its x86 back end moves constrained scalar conversions that merge
 * into a vector across a read of mxcsr. Where the host has the guest's instructions, strict mode runs the instruction
 * itself on values in registers: results and flags are then right by construction.
 */
#ifndef ISA_X86_64_FP_EXACT_H
#define ISA_X86_64_FP_EXACT_H

#include "isa/x86_64/x86_64.h"

/* Is the instruction itself to be run? Only then may the others be called. */
static inline bool exact(Lifter *l) { return HOST_IS_X86 && l->strict_fp; }

/* The instruction on `a`, or on `a` and `b`, where `a` is what its destination held; with its immediate, if it has one.
 * A scalar instruction takes and gives scalars. */
Val exact_unary(Lifter *l, const Insn *in, Ty ret, Val a);
Val exact_binary(Lifter *l, const Insn *in, Val a, Val b);
/* Another instruction by its name. */
Val exact_named(Lifter *l, const char *name, Ty ret, Val a);
/* A compare: ah as lahf leaves it, in bits 8–15. */
Val exact_compare(Lifter *l, const Insn *in, Val a, Val b);

/* A source operand: a legacy SSE memory operand of 16 bytes has to be aligned. */
Val fp_source(Lifter *l, const Insn *in, int i, Ty t);

#endif
