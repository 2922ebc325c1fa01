/* helpers_estimate.c: estimates of reciprocals, as the manual's pseudocode (RecipEstimate, RecipSqrtEstimate, FPRecipEstimate, …) has them. */
#include "isa/aarch64/helpers_float.h"

/* 256 to 511 for a / 512 in [0.5, 1): the nearest of 1 / that, in 512ths. */
static u32 reciprocal_estimate(u32 a) {
    a = 2 * a + 1;
    return ((1u << 19) / a + 1) / 2;
}

/* 128 to 511 for a / 512 in [0.25, 1). */
static u32 root_estimate(u32 a) {
    a = a < 256 ? 2 * a + 1 : 2 * (a & ~1u) + 2;
    u32 b = 512;
    while ((u64)a * (b + 1) * (b + 1) < (u64)1 << 28)
        b++;
    return (b + 1) / 2;
}

static u64 packed(const SoftFormat *f, bool negative, i32 exponent, u64 fraction) {
    return (negative ? a64_sign_bit(f) : 0) | (u64)exponent << f->fraction_bits |
           (fraction & (((u64)1 << f->fraction_bits) - 1));
}

static i32 bias_of(const SoftFormat *f) {
    return (1 << (f->exponent_bits - 1)) - 1;
}

typedef struct Parts {
    bool negative;
    i32 exponent;
    u64 fraction; /* of 52 bits */
} Parts;

static Parts parts_of(const SoftFormat *f, u64 a) {
    u64 fraction = a & (((u64)1 << f->fraction_bits) - 1);
    i32 exponent = (i32)(a >> f->fraction_bits & ((1u << f->exponent_bits) - 1));
    return (Parts){a & a64_sign_bit(f), exponent, fraction << (52 - f->fraction_bits)};
}

/* Numbers below the normal ones are brought up to them. */
static void normalize(Parts *p) {
    if (p->exponent)
        return;
    for (; !(p->fraction >> 51); p->fraction <<= 1)
        p->exponent--;
    p->fraction = p->fraction << 1 & (((u64)1 << 52) - 1);
}

static u64 overflow(A64Env *e, bool negative) {
    bool to_infinity = e->soft.rounding == SOFT_NEAREST_EVEN || e->soft.rounding == (negative ? SOFT_DOWN : SOFT_UP);
    e->soft.flags |= SOFT_OVERFLOW | SOFT_INEXACT;
    return (a64_infinity(e->f) - !to_infinity) | (negative ? a64_sign_bit(e->f) : 0);
}

static u64 reciprocal(A64Env *e, u64 a) {
    const SoftFormat *f = e->f;
    u64 sign = a & a64_sign_bit(f), magnitude = a ^ sign;
    i32 bias = bias_of(f);
    if (magnitude == a64_infinity(f))
        return sign;
    if (!magnitude) {
        e->soft.flags |= SOFT_DIVIDE;
        return sign | a64_infinity(f);
    }
    if (!(magnitude >> (f->fraction_bits - 2))) /* below 2^-(bias + 1), whose reciprocal is too large */
        return overflow(e, sign);
    Parts p = parts_of(f, a);
    if (e->soft.flush && p.exponent >= 2 * bias - 1) {
        e->soft.flags |= SOFT_UNDERFLOW;
        return sign;
    }
    normalize(&p);
    u64 estimate = reciprocal_estimate(0x100 | (u32)(p.fraction >> 44)) & 0xff;
    i32 exponent = 2 * bias - 1 - p.exponent;
    u64 fraction = estimate << 44;
    if (exponent <= 0) {
        fraction = ((u64)1 << 52 | fraction) >> (1 - exponent);
        exponent = 0;
    }
    return packed(f, sign, exponent, fraction >> (52 - f->fraction_bits));
}

static u64 root(A64Env *e, u64 a) {
    const SoftFormat *f = e->f;
    u64 sign = a & a64_sign_bit(f), magnitude = a ^ sign;
    if (!magnitude) {
        e->soft.flags |= SOFT_DIVIDE;
        return sign | a64_infinity(f);
    }
    if (sign)
        return a64_invalid(e);
    if (magnitude == a64_infinity(f))
        return 0;
    Parts p = parts_of(f, a);
    normalize(&p);
    bool odd = p.exponent & 1;
    u32 in = odd ? 0x80 | (u32)(p.fraction >> 45) : 0x100 | (u32)(p.fraction >> 44);
    i32 exponent = (3 * bias_of(f) - 1 - p.exponent) >> 1;
    u64 estimate = root_estimate(in) & 0xff;
    return packed(f, false, exponent, f->fraction_bits >= 8 ? estimate << (f->fraction_bits - 8) : 0);
}

u64 a64_estimate(A64Env *e, u64 a, bool of_root) {
    return of_root ? root(e, a) : reciprocal(e, a);
}

u64 a64_exponent(A64Env *e, u64 a) {
    const SoftFormat *f = e->f;
    u64 sign = a & a64_sign_bit(f), top = ((u64)1 << f->exponent_bits) - 1, exponent = a >> f->fraction_bits & top;
    return sign | (exponent ? ~exponent & top : top - 1) << f->fraction_bits;
}

u32 a64_estimate_integer(u32 a, bool of_root) {
    if (of_root)
        return a >> 30 ? root_estimate(a >> 23) << 23 : ~(u32)0;
    return a >> 31 ? reciprocal_estimate(a >> 23) << 23 : ~(u32)0;
}
