/* values.h: random register contents, biased to where instructions go wrong. */
#ifndef FUZZ_VALUES_H
#define FUZZ_VALUES_H

#include "random.h"

/* Zero, one, minus one, the limits of each width, single bits, small numbers, anything. */
u64 value_integer(Rng *r);
/* A float by its fields, so many bits wide: NaNs, infinities, denormals, halves, anything. */
u64 value_float(Rng *r, u32 exponent, u32 fraction);
/* Vector lanes of one kind: f32 or f64 with NaNs, infinities, denormals and halves; integers at their limits; any
 * bits. */
void value_vector(Rng *r, u8 *out, size_t size);
/* An x87 register: 10 bytes, sometimes of the encodings that no x87 instruction makes. */
void value_extended(Rng *r, u8 out[10]);
/* Packed decimal as fbstp leaves it: 10 bytes. */
void value_decimal(Rng *r, u8 out[10]);
/* Floating-point environments with every exception masked. */
u32 value_mxcsr(Rng *r);
u16 value_fpu_control(Rng *r);

#endif
