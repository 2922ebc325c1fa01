/* divide.h: quotients by a constant are products with its reciprocal: S. Warren, Hacker's Delight, chapter 10. */
#ifndef BINOPT_MACHINE_DIVIDE_H
#define BINOPT_MACHINE_DIVIDE_H

#include "binopt/x86_64/machine/insn.h"

enum { DIVIDE_MAX_BYTES = 32 };

/* Is there such a product for eax / divisor, of 32 bits, with or without a sign? */
bool divide_works(u64 divisor, bool has_sign);

/* eax /= divisor; edx and the flags have nothing in them afterwards. Returns the size. */
u32 divide_put(u64 divisor, bool has_sign, u8 *to);

#endif
