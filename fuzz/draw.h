/* draw.h: samples by their seeds: rows, forms and lengths are drawn here, operands and states in generate.c. */
#ifndef FUZZ_DRAW_H
#define FUZZ_DRAW_H

#include "generate.h"

/* The sample of the first seed from *seed on that gives one; *seed is then the one after it. Up to `length` instructions in every
 * other sample. Returns the row of its first instruction. */
u32 draw_sample(const Forms *forms, u64 *seed, u32 length, Sample *out);

#endif
