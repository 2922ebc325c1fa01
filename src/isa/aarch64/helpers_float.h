/* helpers_float.h: what the two files of floating point in integers share. */
#ifndef ISA_AARCH64_HELPERS_FLOAT_H
#define ISA_AARCH64_HELPERS_FLOAT_H

#include "isa/softfloat.h"

/* An operation on its way. */
typedef struct A64Env {
    SoftEnv soft;
    const SoftFormat *f;
    u32 fpcr;
    u32 fpsr; /* flags that softfloat.h does not have */
} A64Env;

u64 a64_sign_bit(const SoftFormat *f);
u64 a64_infinity(const SoftFormat *f);
u64 a64_default_nan(const SoftFormat *f);
u64 a64_invalid(A64Env *e);

/* helpers_estimate.c: of what is a number: 1 / a or 1 / sqrt(a) to eight bits, and a power of two near 1 / a. */
u64 a64_estimate(A64Env *e, u64 a, bool of_root);
u64 a64_exponent(A64Env *e, u64 a);
/* The same of integers, without a binary point: urecpe and ursqrte. */
u32 a64_estimate_integer(u32 a, bool of_root);

#endif
