/* softfloat.h: floating point in integers: exact in every rounding mode and every flag, on any host.
 *
 * For what no instruction of the host does: rounding to nearest with ties away from zero, half precision, a fused
 * multiply-add where there is none. Numbers are the bits of an IEEE 754 interchange format, in the low bits of a u64. A result
 * that is not a number is the default one: positive, quiet, otherwise zeros.
 */
#ifndef ISA_SOFTFLOAT_H
#define ISA_SOFTFLOAT_H

#include "base/base.h"

typedef struct SoftFormat {
    u8 exponent_bits, fraction_bits;
} SoftFormat;

extern const SoftFormat soft_f16, soft_f32, soft_f64;

typedef enum SoftRounding {
    SOFT_NEAREST_EVEN,
    SOFT_TO_ZERO,
    SOFT_DOWN,
    SOFT_UP,
    SOFT_NEAREST_AWAY,
} SoftRounding;

enum { SOFT_INEXACT = 1, SOFT_UNDERFLOW = 2, SOFT_OVERFLOW = 4, SOFT_DIVIDE = 8, SOFT_INVALID = 16 };

/* Operations add to the flags. */
typedef struct SoftEnv {
    u8 rounding, flags;
    bool
        tiny_before; /* is an inexact result underflow if it is below the normal numbers before rounding? Else after. */
    bool
        flush; /* does what is below the normal numbers before rounding become zero, and is that underflow and nothing else? */
} SoftEnv;

u64 soft_add(SoftEnv *e, const SoftFormat *f, u64 a, u64 b);
u64 soft_sub(SoftEnv *e, const SoftFormat *f, u64 a, u64 b);
u64 soft_mul(SoftEnv *e, const SoftFormat *f, u64 a, u64 b);
u64 soft_div(SoftEnv *e, const SoftFormat *f, u64 a, u64 b);
u64 soft_sqrt(SoftEnv *e, const SoftFormat *f, u64 a);
/* a * b + c, rounded once. Infinity times zero is invalid also if c is not a number. */
u64 soft_fma(SoftEnv *e, const SoftFormat *f, u64 a, u64 b, u64 c);

u64 soft_convert(SoftEnv *e, const SoftFormat *from, const SoftFormat *to, u64 a);
u64 soft_from_int(SoftEnv *e, const SoftFormat *f, u64 v, bool is_signed);
/* To an integer of so many bits (at most 64): the nearest there is if it does not fit, the largest if it is not a number; both
 * are invalid. The result is sign-extended if it is signed, else zero-extended. */
u64 soft_to_int(SoftEnv *e, const SoftFormat *f, u64 a, u32 bits, bool is_signed);
/* To an integral number; SOFT_INEXACT only if wanted. */
u64 soft_round(SoftEnv *e, const SoftFormat *f, u64 a, bool tell_inexact);

#endif
