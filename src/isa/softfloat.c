/* softfloat.c: see softfloat.h.
 *
 * A number is taken apart into sign, exponent and a significand of 128 bits whose top bit is set; the lowest bit also stands
 * for everything below it that was not zero ("sticky"). Each operation makes such a number exactly, and one function rounds it
 * and puts it together.
 */
#include "isa/softfloat.h"

typedef unsigned __int128 u128;

const SoftFormat soft_f16 = {5, 10}, soft_f32 = {8, 23}, soft_f64 = {11, 52};

typedef enum Kind { ZERO, FINITE, INFINITE, QUIET, SIGNALING } Kind;

/* FINITE: significand / 2^127 * 2^exponent. */
typedef struct Number {
    u8 kind;
    bool negative;
    i32 exponent;
    u128 significand;
} Number;

#define TOP ((u128)1 << 127)

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

static u32 leading_zeros(u128 v) {
    u64 high = (u64)(v >> 64);
    return high ? (u32)__builtin_clzll(high) : 64 + (u32)__builtin_clzll((u64)v);
}

static void normalize(Number *n) {
    u32 zeros = leading_zeros(n->significand);
    n->significand <<= zeros;
    n->exponent -= (i32)zeros;
}

static Number unpack(const SoftFormat *f, u64 bits) {
    u64 fraction = bits & fraction_mask(f);
    u32 max = (1u << f->exponent_bits) - 1, exponent = (u32)(bits >> f->fraction_bits) & max;
    Number n = {.kind = FINITE, .negative = bits & sign_bit(f)};
    if (exponent == max) {
        bool quiet = fraction >> (f->fraction_bits - 1);
        n.kind = !fraction ? INFINITE : quiet ? QUIET : SIGNALING;
    } else if (!exponent && !fraction) {
        n.kind = ZERO;
    } else {
        u64 integer = exponent ? (u64)1 << f->fraction_bits : 0;
        n.significand = (u128)(fraction | integer) << (127 - f->fraction_bits);
        n.exponent = (exponent ? (i32)exponent : 1) - bias_of(f);
        normalize(&n);
    }
    return n;
}

static bool is_nan(const Number *n) {
    return n->kind == QUIET || n->kind == SIGNALING;
}

/* ---------------------------------------------------------------------------------------------------------------- rounding */

/* Shifted right; what falls out is remembered in the lowest bit. */
static u128 shift_sticky(u128 v, u32 count) {
    if (!count)
        return v;
    if (count > 127)
        return v != 0;
    return v >> count | ((v << (128 - count)) != 0);
}

/* Without its `drop` lowest bits (1 to 127). */
static u128 round_off(u8 rounding, bool negative, u128 v, u32 drop) {
    u128 kept = v >> drop, rest = v & (((u128)1 << drop) - 1), half = (u128)1 << (drop - 1);
    switch ((SoftRounding)rounding) {
    case SOFT_NEAREST_EVEN: return kept + (rest > half || (rest == half && (kept & 1)));
    case SOFT_NEAREST_AWAY: return kept + (rest >= half);
    case SOFT_DOWN: return kept + (negative && rest);
    case SOFT_UP: return kept + (!negative && rest);
    case SOFT_TO_ZERO: return kept;
    }
    return kept;
}

static u64 overflow(SoftEnv *e, const SoftFormat *f, bool negative) {
    e->flags |= SOFT_OVERFLOW | SOFT_INEXACT;
    bool to_infinity = e->rounding == SOFT_NEAREST_EVEN || e->rounding == SOFT_NEAREST_AWAY ||
                       e->rounding == (negative ? SOFT_DOWN : SOFT_UP);
    return (negative ? sign_bit(f) : 0) | (infinity(f) - !to_infinity);
}

/* Is it still below the normal numbers when rounded as if the exponent had no limit? IEEE 754 calls that "after rounding". */
static bool is_tiny(const SoftEnv *e, const SoftFormat *f, const Number *n, i32 least) {
    u32 precision = f->fraction_bits + 1u;
    if (n->exponent >= least)
        return false;
    return n->exponent < least - 1 ||
           round_off(e->rounding, n->negative, n->significand, 128 - precision) < (u128)1 << precision;
}

/* A carry out of the fraction goes on into the exponent, which is what it should do. */
static u64 pack(SoftEnv *e, const SoftFormat *f, const Number *n) {
    u64 sign = n->negative ? sign_bit(f) : 0;
    i32 least = 1 - bias_of(f);
    bool subnormal = n->exponent < least;
    u32 drop = 127u - f->fraction_bits;
    u128 exact = subnormal ? shift_sticky(n->significand, (u32)(least - n->exponent)) : n->significand;
    u64 rounded = (u64)round_off(e->rounding, n->negative, exact, drop);
    if (exact & (((u128)1 << drop) - 1))
        e->flags |= is_tiny(e, f, n, least) ? SOFT_INEXACT | SOFT_UNDERFLOW : SOFT_INEXACT;
    if (subnormal)
        return sign | rounded;
    u64 magnitude = ((u64)(n->exponent - least) << f->fraction_bits) + rounded;
    return n->exponent > bias_of(f) || magnitude >= infinity(f) ? overflow(e, f, n->negative) : sign | magnitude;
}

static u64 finish(SoftEnv *e, const SoftFormat *f, const Number *n) {
    u64 sign = n->negative ? sign_bit(f) : 0;
    switch ((Kind)n->kind) {
    case ZERO: return sign;
    case FINITE: return pack(e, f, n);
    case INFINITE: return sign | infinity(f);
    case QUIET:
    case SIGNALING: break;
    }
    return not_a_number(f);
}

static u64 invalid(SoftEnv *e, const SoftFormat *f) {
    e->flags |= SOFT_INVALID;
    return not_a_number(f);
}

/* The result where an operand is not a number. */
static u64 propagate(SoftEnv *e, const SoftFormat *f, const Number *a, const Number *b) {
    if (a->kind == SIGNALING || b->kind == SIGNALING)
        e->flags |= SOFT_INVALID;
    return not_a_number(f);
}

/* -------------------------------------------------------------------------------------------------------------- operations */

/* The larger exponent first; a bit of room for the carry. */
static Number add_finite(const SoftEnv *e, Number a, Number b) {
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand)) {
        Number swap = a;
        a = b;
        b = swap;
    }
    u128 large = shift_sticky(a.significand, 1), small = shift_sticky(b.significand, (u32)(a.exponent - b.exponent) + 1);
    a.exponent++;
    a.significand = a.negative == b.negative ? large + small : large - small;
    if (a.significand)
        normalize(&a);
    else
        a = (Number){.kind = ZERO, .negative = e->rounding == SOFT_DOWN};
    return a;
}

static Number add_numbers(SoftEnv *e, Number a, Number b) {
    if (a.kind == INFINITE || b.kind == ZERO) {
        if (a.kind == ZERO && a.negative != b.negative)
            a.negative = e->rounding == SOFT_DOWN;
        return a;
    }
    return b.kind == INFINITE || a.kind == ZERO ? b : add_finite(e, a, b);
}

static bool opposite_infinities(const Number *a, const Number *b) {
    return a->kind == INFINITE && b->kind == INFINITE && a->negative != b->negative;
}

u64 soft_add(SoftEnv *e, const SoftFormat *f, u64 a, u64 b) {
    Number x = unpack(f, a), y = unpack(f, b);
    if (is_nan(&x) || is_nan(&y))
        return propagate(e, f, &x, &y);
    if (opposite_infinities(&x, &y))
        return invalid(e, f);
    Number sum = add_numbers(e, x, y);
    return finish(e, f, &sum);
}

u64 soft_sub(SoftEnv *e, const SoftFormat *f, u64 a, u64 b) {
    return soft_add(e, f, a, b ^ sign_bit(f));
}

static bool zero_times_infinity(const Number *a, const Number *b) {
    return (a->kind == ZERO && b->kind == INFINITE) || (a->kind == INFINITE && b->kind == ZERO);
}

/* Significands have at most 53 bits, so that their upper halves have all of them. */
static Number multiply(const Number *a, const Number *b) {
    Number n = {.kind = FINITE, .negative = a->negative != b->negative};
    if (a->kind != FINITE || b->kind != FINITE) {
        n.kind = a->kind == ZERO || b->kind == ZERO ? ZERO : INFINITE;
        return n;
    }
    n.exponent = a->exponent + b->exponent + 1;
    n.significand = (a->significand >> 64) * (b->significand >> 64);
    normalize(&n);
    return n;
}

u64 soft_mul(SoftEnv *e, const SoftFormat *f, u64 a, u64 b) {
    Number x = unpack(f, a), y = unpack(f, b);
    if (is_nan(&x) || is_nan(&y))
        return propagate(e, f, &x, &y);
    if (zero_times_infinity(&x, &y))
        return invalid(e, f);
    Number product = multiply(&x, &y);
    return finish(e, f, &product);
}

u64 soft_fma(SoftEnv *e, const SoftFormat *f, u64 a, u64 b, u64 c) {
    Number x = unpack(f, a), y = unpack(f, b), z = unpack(f, c);
    if (zero_times_infinity(&x, &y))
        return invalid(e, f);
    if (is_nan(&x) || is_nan(&y) || is_nan(&z)) {
        propagate(e, f, &x, &y);
        return propagate(e, f, &z, &z);
    }
    Number product = multiply(&x, &y);
    if (opposite_infinities(&product, &z))
        return invalid(e, f);
    Number sum = add_numbers(e, product, z);
    return finish(e, f, &sum);
}

static Number divide(const Number *a, const Number *b) {
    Number n = {.kind = FINITE, .negative = a->negative != b->negative, .exponent = a->exponent - b->exponent};
    u128 dividend = a->significand >> 1, divisor = b->significand >> 64;
    u128 quotient = dividend / divisor;
    n.significand = quotient << 64 | (dividend % divisor != 0);
    normalize(&n);
    return n;
}

u64 soft_div(SoftEnv *e, const SoftFormat *f, u64 a, u64 b) {
    Number x = unpack(f, a), y = unpack(f, b);
    if (is_nan(&x) || is_nan(&y))
        return propagate(e, f, &x, &y);
    if (x.kind == y.kind && x.kind != FINITE)
        return invalid(e, f);
    Number n = {.negative = x.negative != y.negative};
    if (x.kind == FINITE && y.kind == FINITE) {
        n = divide(&x, &y);
    } else if (y.kind == ZERO) {
        n.kind = INFINITE;
        if (x.kind == FINITE)
            e->flags |= SOFT_DIVIDE;
    } else {
        n.kind = x.kind == INFINITE ? INFINITE : ZERO;
    }
    return finish(e, f, &n);
}

/* The largest number whose square is not above v, bit by bit. */
static u64 integer_root(u128 v) {
    u64 root = 0;
    for (u64 bit = (u64)1 << 63; bit; bit >>= 1)
        if ((u128)(root | bit) * (root | bit) <= v)
            root |= bit;
    return root;
}

u64 soft_sqrt(SoftEnv *e, const SoftFormat *f, u64 a) {
    Number n = unpack(f, a);
    if (is_nan(&n))
        return propagate(e, f, &n, &n);
    if (n.kind == ZERO)
        return a;
    if (n.negative)
        return invalid(e, f);
    if (n.kind == FINITE) {
        u128 v = n.exponent & 1 ? n.significand : n.significand >> 1;
        u64 root = integer_root(v);
        n.significand = (u128)root << 64 | ((u128)root * root != v);
        n.exponent = (n.exponent - (n.exponent & 1)) / 2;
    }
    return finish(e, f, &n);
}

/* ------------------------------------------------------------------------------------------------------------- conversions */

u64 soft_convert(SoftEnv *e, const SoftFormat *from, const SoftFormat *to, u64 a) {
    Number n = unpack(from, a);
    return is_nan(&n) ? propagate(e, to, &n, &n) : finish(e, to, &n);
}

u64 soft_from_int(SoftEnv *e, const SoftFormat *f, u64 v, bool is_signed) {
    bool negative = is_signed && v >> 63;
    Number n = {.kind = v ? FINITE : ZERO, .negative = negative, .exponent = 127, .significand = negative ? -v : v};
    if (v)
        normalize(&n);
    return finish(e, f, &n);
}

/* The magnitude of a finite number below 2^65, rounded; whether that was exact. */
static u128 integer_of(const SoftEnv *e, const Number *n, bool *exact) {
    u32 drop = n->exponent < 0 ? 127 : 127 - (u32)n->exponent;
    u128 v = n->exponent < 0 ? shift_sticky(n->significand, (u32)-n->exponent) : n->significand;
    *exact = !(v & (((u128)1 << drop) - 1));
    return round_off(e->rounding, n->negative, v, drop);
}

static u64 largest(u32 bits, bool is_signed) {
    return ~(u64)0 >> (64 - bits + is_signed);
}

static u64 least(u32 bits, bool is_signed) {
    return is_signed ? ~(u64)0 << (bits - 1) : 0;
}

u64 soft_to_int(SoftEnv *e, const SoftFormat *f, u64 a, u32 bits, bool is_signed) {
    Number n = unpack(f, a);
    if (n.kind == ZERO)
        return 0;
    bool exact = true, huge = n.kind != FINITE || n.exponent > 64, negative = n.negative && !is_nan(&n);
    u128 v = huge ? 0 : integer_of(e, &n, &exact);
    u64 limit = negative ? -least(bits, is_signed) : largest(bits, is_signed);
    if (huge || v > limit) {
        e->flags |= SOFT_INVALID;
        return negative ? least(bits, is_signed) : largest(bits, is_signed);
    }
    if (!exact)
        e->flags |= SOFT_INEXACT;
    return negative ? -(u64)v : (u64)v;
}

u64 soft_round(SoftEnv *e, const SoftFormat *f, u64 a, bool tell_inexact) {
    Number n = unpack(f, a);
    if (is_nan(&n))
        return propagate(e, f, &n, &n);
    if (n.kind != FINITE || n.exponent >= f->fraction_bits)
        return a;
    bool exact;
    u128 v = integer_of(e, &n, &exact);
    if (!exact && tell_inexact)
        e->flags |= SOFT_INEXACT;
    Number r = {.kind = v ? FINITE : ZERO, .negative = n.negative, .exponent = 127, .significand = v};
    if (v)
        normalize(&r);
    return finish(e, f, &r);
}
