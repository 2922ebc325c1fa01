/* softfloat.c: see softfloat.h. Each operation makes an exact number (softnumber.h), and one function rounds it and puts it
 * together. */
#include "isa/softfloat.h"

#include "isa/softnumber.h"

const SoftFormat soft_f16 = {5, 10}, soft_f32 = {8, 23}, soft_f64 = {11, 52};

/* ------------------------------------------------------------------------------------------------------------ taking apart */

static i32 bias_of(const SoftFormat *f) {
    return (1 << (f->exponent_bits - 1)) - 1;
}

static u64 fraction_mask(const SoftFormat *f) {
    return ((u64)1 << f->fraction_bits) - 1;
}

static u64 sign_bit(const SoftFormat *f) {
    return (u64)1 << (f->exponent_bits + f->fraction_bits);
}

static u64 infinity(const SoftFormat *f) {
    return (((u64)1 << f->exponent_bits) - 1) << f->fraction_bits;
}

static u64 not_a_number(const SoftFormat *f) {
    return infinity(f) | (u64)1 << (f->fraction_bits - 1);
}

SoftNumber soft_unpack(const SoftFormat *f, u64 bits) {
    u64 fraction = bits & fraction_mask(f);
    u32 max = (1u << f->exponent_bits) - 1, exponent = (u32)(bits >> f->fraction_bits) & max;
    SoftNumber n = {.kind = NUMBER_FINITE, .negative = bits & sign_bit(f)};
    if (exponent == max) {
        bool quiet = fraction >> (f->fraction_bits - 1);
        n.kind = !fraction ? NUMBER_INFINITE : quiet ? NUMBER_QUIET : NUMBER_SIGNALING;
    } else if (!exponent && !fraction) {
        n.kind = NUMBER_ZERO;
    } else {
        u64 integer = exponent ? (u64)1 << f->fraction_bits : 0;
        n.significand = (u128)(fraction | integer) << (127 - f->fraction_bits);
        n.exponent = (exponent ? (i32)exponent : 1) - bias_of(f);
        number_normalize(&n);
    }
    return n;
}

/* ---------------------------------------------------------------------------------------------------------------- rounding */

static u64 overflow(SoftEnv *e, const SoftFormat *f, bool negative) {
    e->flags |= SOFT_OVERFLOW | SOFT_INEXACT;
    bool to_infinity = e->rounding == SOFT_NEAREST_EVEN || e->rounding == SOFT_NEAREST_AWAY ||
                       e->rounding == (negative ? SOFT_DOWN : SOFT_UP);
    return (negative ? sign_bit(f) : 0) | (infinity(f) - !to_infinity);
}

/* Is it still below the normal numbers when rounded as if the exponent had no limit? IEEE 754 calls that "after rounding". */
static bool is_tiny(const SoftEnv *e, const SoftFormat *f, const SoftNumber *n, i32 least) {
    u32 precision = f->fraction_bits + 1u;
    if (n->exponent >= least)
        return false;
    return e->tiny_before || n->exponent < least - 1 ||
           number_round(e->rounding, n->negative, n->significand, 128 - precision) < (u128)1 << precision;
}

/* A carry out of the fraction goes on into the exponent, which is what it should do. */
static u64 pack(SoftEnv *e, const SoftFormat *f, const SoftNumber *n) {
    u64 sign = n->negative ? sign_bit(f) : 0;
    i32 least = 1 - bias_of(f);
    bool subnormal = n->exponent < least;
    if (subnormal && e->flush) {
        e->flags |= SOFT_UNDERFLOW;
        return sign;
    }
    u32 drop = 127u - f->fraction_bits;
    u128 exact = subnormal ? number_shift(n->significand, (u32)(least - n->exponent)) : n->significand;
    u64 rounded = (u64)number_round(e->rounding, n->negative, exact, drop);
    if (exact & (((u128)1 << drop) - 1))
        e->flags |= is_tiny(e, f, n, least) ? SOFT_INEXACT | SOFT_UNDERFLOW : SOFT_INEXACT;
    if (subnormal)
        return sign | rounded;
    u64 magnitude = ((u64)(n->exponent - least) << f->fraction_bits) + rounded;
    return n->exponent > bias_of(f) || magnitude >= infinity(f) ? overflow(e, f, n->negative) : sign | magnitude;
}

u64 soft_pack(SoftEnv *e, const SoftFormat *f, const SoftNumber *n) {
    u64 sign = n->negative ? sign_bit(f) : 0;
    switch ((SoftKind)n->kind) {
    case NUMBER_ZERO:
        return sign;
    case NUMBER_FINITE:
        return pack(e, f, n);
    case NUMBER_INFINITE:
        return sign | infinity(f);
    case NUMBER_QUIET:
    case NUMBER_SIGNALING:
        break;
    }
    return not_a_number(f);
}

static u64 invalid(SoftEnv *e, const SoftFormat *f) {
    e->flags |= SOFT_INVALID;
    return not_a_number(f);
}

/* The result where an operand is not a number. */
static u64 propagate(SoftEnv *e, const SoftFormat *f, const SoftNumber *a, const SoftNumber *b) {
    if (a->kind == NUMBER_SIGNALING || b->kind == NUMBER_SIGNALING)
        e->flags |= SOFT_INVALID;
    return not_a_number(f);
}

/* -------------------------------------------------------------------------------------------------------------- operations */

u64 soft_add(SoftEnv *e, const SoftFormat *f, u64 a, u64 b) {
    SoftNumber x = soft_unpack(f, a), y = soft_unpack(f, b);
    if (number_is_nan(&x) || number_is_nan(&y))
        return propagate(e, f, &x, &y);
    if (number_opposite_infinities(&x, &y))
        return invalid(e, f);
    SoftNumber sum = number_add(e->rounding, x, y);
    return soft_pack(e, f, &sum);
}

u64 soft_sub(SoftEnv *e, const SoftFormat *f, u64 a, u64 b) {
    return soft_add(e, f, a, b ^ sign_bit(f));
}

u64 soft_mul(SoftEnv *e, const SoftFormat *f, u64 a, u64 b) {
    SoftNumber x = soft_unpack(f, a), y = soft_unpack(f, b);
    if (number_is_nan(&x) || number_is_nan(&y))
        return propagate(e, f, &x, &y);
    if (number_zero_times_infinity(&x, &y))
        return invalid(e, f);
    SoftNumber product = number_multiply(&x, &y);
    return soft_pack(e, f, &product);
}

u64 soft_fma(SoftEnv *e, const SoftFormat *f, u64 a, u64 b, u64 c) {
    SoftNumber x = soft_unpack(f, a), y = soft_unpack(f, b), z = soft_unpack(f, c);
    if (number_zero_times_infinity(&x, &y))
        return invalid(e, f);
    if (number_is_nan(&x) || number_is_nan(&y) || number_is_nan(&z)) {
        propagate(e, f, &x, &y);
        return propagate(e, f, &z, &z);
    }
    SoftNumber product = number_multiply(&x, &y);
    if (number_opposite_infinities(&product, &z))
        return invalid(e, f);
    SoftNumber sum = number_add(e->rounding, product, z);
    return soft_pack(e, f, &sum);
}

u64 soft_div(SoftEnv *e, const SoftFormat *f, u64 a, u64 b) {
    SoftNumber x = soft_unpack(f, a), y = soft_unpack(f, b);
    if (number_is_nan(&x) || number_is_nan(&y))
        return propagate(e, f, &x, &y);
    if (x.kind == y.kind && x.kind != NUMBER_FINITE)
        return invalid(e, f);
    SoftNumber n = {.negative = x.negative != y.negative};
    if (x.kind == NUMBER_FINITE && y.kind == NUMBER_FINITE) {
        n = number_divide(&x, &y);
    } else if (y.kind == NUMBER_ZERO) {
        n.kind = NUMBER_INFINITE;
        if (x.kind == NUMBER_FINITE)
            e->flags |= SOFT_DIVIDE;
    } else {
        n.kind = x.kind == NUMBER_INFINITE ? NUMBER_INFINITE : NUMBER_ZERO;
    }
    return soft_pack(e, f, &n);
}

u64 soft_sqrt(SoftEnv *e, const SoftFormat *f, u64 a) {
    SoftNumber n = soft_unpack(f, a);
    if (number_is_nan(&n))
        return propagate(e, f, &n, &n);
    if (n.kind == NUMBER_ZERO)
        return a;
    if (n.negative)
        return invalid(e, f);
    if (n.kind == NUMBER_FINITE)
        n = number_root(&n);
    return soft_pack(e, f, &n);
}

/* ------------------------------------------------------------------------------------------------------------- conversions */

u64 soft_convert(SoftEnv *e, const SoftFormat *from, const SoftFormat *to, u64 a) {
    SoftNumber n = soft_unpack(from, a);
    return number_is_nan(&n) ? propagate(e, to, &n, &n) : soft_pack(e, to, &n);
}

u64 soft_from_int(SoftEnv *e, const SoftFormat *f, u64 v, bool is_signed) {
    bool negative = is_signed && v >> 63;
    SoftNumber n = {.kind = v ? NUMBER_FINITE : NUMBER_ZERO,
                    .negative = negative,
                    .exponent = 127,
                    .significand = negative ? -v : v};
    if (v)
        number_normalize(&n);
    return soft_pack(e, f, &n);
}

static u64 largest(u32 bits, bool is_signed) {
    return ~(u64)0 >> (64 - bits + is_signed);
}

static u64 least(u32 bits, bool is_signed) {
    return is_signed ? ~(u64)0 << (bits - 1) : 0;
}

u64 soft_number_to_int(SoftEnv *e, SoftNumber n, u32 bits, bool is_signed) {
    if (n.kind == NUMBER_ZERO)
        return 0;
    bool exact = true, huge = n.kind != NUMBER_FINITE || n.exponent > 64, negative = n.negative && !number_is_nan(&n);
    u128 v = huge ? 0 : number_integer(e->rounding, &n, &exact);
    u64 limit = negative ? -least(bits, is_signed) : largest(bits, is_signed);
    if (huge || v > limit) {
        e->flags |= SOFT_INVALID;
        return negative ? least(bits, is_signed) : largest(bits, is_signed);
    }
    if (!exact)
        e->flags |= SOFT_INEXACT;
    return negative ? -(u64)v : (u64)v;
}

u64 soft_to_int(SoftEnv *e, const SoftFormat *f, u64 a, u32 bits, bool is_signed) {
    return soft_number_to_int(e, soft_unpack(f, a), bits, is_signed);
}

u64 soft_round(SoftEnv *e, const SoftFormat *f, u64 a, bool tell_inexact) {
    SoftNumber n = soft_unpack(f, a);
    if (number_is_nan(&n))
        return propagate(e, f, &n, &n);
    if (n.kind != NUMBER_FINITE || n.exponent >= f->fraction_bits)
        return a;
    bool exact;
    u128 v = number_integer(e->rounding, &n, &exact);
    if (!exact && tell_inexact)
        e->flags |= SOFT_INEXACT;
    SoftNumber r = {.kind = v ? NUMBER_FINITE : NUMBER_ZERO, .negative = n.negative, .exponent = 127, .significand = v};
    if (v)
        number_normalize(&r);
    return soft_pack(e, f, &r);
}
