/* extended.h: floats of 80 bits in integers, as the x87 unit has them: its NaNs, its encodings that are none, its exceptions.
 *
 * Operations take the unit's control word for rounding (and, where it counts, precision), and add to a status word the exceptions and
 * C1 where a result was rounded up. */
#ifndef ISA_X86_64_PLAIN_EXTENDED_H
#define ISA_X86_64_PLAIN_EXTENDED_H

#include "isa/softnumber.h"
#include "isa/x86_64/helpers/helpers_x87.h"

typedef struct __attribute__((packed, may_alias)) Extended {
    u64 significand;
    u16 sign_exponent;
} Extended;

enum { EXTENDED_MAX = 0x7fff, EXTENDED_SIGN = 0x8000, EXTENDED_BIAS = 0x3fff };

static inline u16 extended_exponent(Extended v) {
    return v.sign_exponent & EXTENDED_MAX;
}
static inline bool extended_negative(Extended v) {
    return v.sign_exponent >> 15;
}
/* SDM 1, 8.2.2: a number without its integer bit is none. */
static inline bool extended_is_unsupported(Extended v) {
    return extended_exponent(v) && !(v.significand >> 63);
}
static inline bool extended_is_nan(Extended v) {
    return extended_exponent(v) == EXTENDED_MAX && v.significand << 1 && v.significand >> 63;
}
static inline bool extended_is_signaling(Extended v) {
    return extended_is_nan(v) && !(v.significand >> 62 & 1);
}
static inline bool extended_is_denormal(Extended v) {
    return !extended_exponent(v) && v.significand;
}
static inline bool extended_is_zero(Extended v) {
    return !extended_exponent(v) && !v.significand;
}
static inline bool extended_is_infinite(Extended v) {
    return extended_exponent(v) == EXTENDED_MAX && v.significand == (u64)1 << 63;
}

Extended extended_indefinite(void);
Extended extended_infinity(bool negative);
Extended extended_zero(bool negative);

SoftRounding extended_rounding(u16 cw);
/* A number that is one; and the float of 64 bits of precision, or as many as the control word says, that is nearest to it. */
SoftNumber extended_unpack(Extended v);
Extended extended_pack(u16 cw, const SoftNumber *n, u16 *sw);
Extended extended_pack_by_control(u16 cw, const SoftNumber *n, u16 *sw);

/* What becomes of operands that are not numbers; false: all are. Then denormal ones are noted. */
bool extended_refuses(Extended a, Extended b, Extended *r, u16 *sw);
Extended extended_invalid(u16 *sw);

Extended extended_from_float(const SoftFormat *f, u64 bits); /* signaling ones stay so */
Extended extended_from_int(i64 v);
u64 extended_to_float(u16 cw, const SoftFormat *f, Extended v, u16 *sw);
/* The indefinite integer of so many bits where there is none. */
u64 extended_to_int(SoftRounding rounding, Extended v, u32 bits, u16 *sw);
Extended extended_round(u16 cw, Extended v, u16 *sw); /* to an integral number */

Extended extended_add(u16 cw, Extended a, Extended b, u16 *sw);
Extended extended_sub(u16 cw, Extended a, Extended b, u16 *sw);
Extended extended_mul(u16 cw, Extended a, Extended b, u16 *sw);
Extended extended_div(u16 cw, Extended a, Extended b, u16 *sw);
Extended extended_sqrt(u16 cw, Extended a, u16 *sw);

/* The condition codes C0, C2 and C3 of a compare, and its exceptions; quiet NaNs raise one unless `quiet`. */
u16 extended_compare(Extended a, Extended b, bool quiet);

#endif
