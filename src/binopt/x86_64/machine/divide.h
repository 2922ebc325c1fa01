/* divide.h: division by a constant, as multiplication by its reciprocal: H. S. Warren, Hacker's Delight, chapter 10. */
#ifndef BINOPT_MACHINE_DIVIDE_H
#define BINOPT_MACHINE_DIVIDE_H

#include "binopt/x86_64/machine/machine_insn.h"

enum { DIVIDE_MAX_BYTES = 32 };

/* True if there is such a product for eax / divisor, in 32 bits, signed or unsigned. */
bool divide_works(u64 divisor, bool has_sign);

/* Writes code for eax /= divisor and returns its size. edx and the flags are undefined afterwards. */
u32 divide_put(u64 divisor, bool has_sign, u8 *to);

#endif
