/* fp_exact.h: strict floating point by the very instruction.
 *
 * LLVM may commute an addition, which changes the NaN that x86 returns; it has no operation for min, dpps or an
 * out-of-range conversion with their exception flags; and its x86 back end moves constrained scalar conversions that merge
 * into a vector across a read of mxcsr. Where the host has the guest's instructions, strict mode runs the instruction
 * itself on values in registers: results and flags are then right by construction.
 */
#ifndef ISA_X86_64_FP_EXACT_H
#define ISA_X86_64_FP_EXACT_H

#include "isa/x86_64/forms.h"

/* Is the instruction itself to be run? Only then may the others be called. */
static inline bool exact(const Lifter *l) {
    return x86_forms(l) && l->strict_fp;
}

/* The instruction on `a`, or on `a` and `b`, where `a` is what its destination held; with its immediate, if it has one.
 * A scalar instruction takes and gives scalars. */
static inline Val exact_unary(Lifter *l, const Insn *in, Ty ret, Val a) {
    return x86_forms(l)->exact_unary(l, in, ret, a);
}
static inline Val exact_binary(Lifter *l, const Insn *in, Val a, Val b) {
    return x86_forms(l)->exact_binary(l, in, a, b);
}
/* Another instruction by its name. */
static inline Val exact_named(Lifter *l, const char *name, Ty ret, Val a) {
    return x86_forms(l)->exact_named(l, name, ret, a);
}
/* A compare: ah as lahf leaves it, in bits 8–15. */
static inline Val exact_compare(Lifter *l, const Insn *in, Val a, Val b) {
    return x86_forms(l)->exact_compare(l, in, a, b);
}

/* A source operand: a legacy SSE memory operand of 16 bytes has to be aligned. */
Val fp_source(Lifter *l, const Insn *in, int i, Ty t);

#endif
