/* fp_soft.h: strict floating point on hosts without the guest's instructions: lane by lane, by a C function. */
#ifndef ISA_X86_64_FP_SOFT_H
#define ISA_X86_64_FP_SOFT_H

#include "isa/x86_64/x86_64.h"

/* Does the instruction have such a meaning, and was it lifted so? */
bool fp_soft(Lifter *l, const Insn *in);

#endif
