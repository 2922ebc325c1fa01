/* fp_exact.c: see fp_exact.h. */
#include "isa/x86_64/fp/fp_exact.h"

Val fp_source(Lifter *l, const Insn *in, int i, Ty t) {
    return ty_bits(t) == 128 ? operand_aligned(l, in, i, t) : operand_as(l, in, i, t);
}
