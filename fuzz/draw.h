/* draw.h: samples by their seeds: rows and lengths are drawn here, the rest by the guest (sample.h). */
#ifndef FUZZ_DRAW_H
#define FUZZ_DRAW_H

#include "sample.h"

/* The sample of the first seed from *seed on that gives one; *seed is then the one after it. Up to `length` instructions in every
 * other sample. Returns the row of its first instruction, of the `row_count` that sample_find found. */
u32 draw_sample(u32 row_count, u64 *seed, u32 length, Sample *out);

/* How long the instruction is that a sample has at an offset. */
size_t draw_size_at(const Case *c, size_t offset);

#endif
