/* softnumber.c: see softnumber.h. */
#include "isa/softnumber.h"

static u32 leading_zeros(u128 v) {
    u64 high = (u64)(v >> 64);
    return high ? (u32)__builtin_clzll(high) : 64 + (u32)__builtin_clzll((u64)v);
}

void number_normalize(SoftNumber *n) {
    u32 zeros = leading_zeros(n->significand);
    n->significand <<= zeros;
    n->exponent -= (i32)zeros;
}

/* Shifted right; what falls out is remembered in the lowest bit. */
u128 number_shift(u128 v, u32 count) {
    if (!count)
        return v;
    if (count > 127)
        return v != 0;
    return v >> count | ((v << (128 - count)) != 0);
}

/* Without its `drop` lowest bits (1 to 127). */
u128 number_round(u8 rounding, bool negative, u128 v, u32 drop) {
    u128 kept = v >> drop, rest = v & (((u128)1 << drop) - 1), half = (u128)1 << (drop - 1);
    switch ((SoftRounding)rounding) {
    case SOFT_NEAREST_EVEN:
        return kept + (rest > half || (rest == half && (kept & 1)));
    case SOFT_NEAREST_AWAY:
        return kept + (rest >= half);
    case SOFT_DOWN:
        return kept + (negative && rest);
    case SOFT_UP:
        return kept + (!negative && rest);
    case SOFT_TO_ZERO:
        return kept;
    }
    return kept;
}

/* The larger exponent first; a bit of room for the carry. */
static SoftNumber add_finite(u8 rounding, SoftNumber a, SoftNumber b) {
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand)) {
        SoftNumber swap = a;
        a = b;
        b = swap;
    }
    u128 large = number_shift(a.significand, 1),
         small = number_shift(b.significand, (u32)(a.exponent - b.exponent) + 1);
    a.exponent++;
    a.significand = a.negative == b.negative ? large + small : large - small;
    if (a.significand)
        number_normalize(&a);
    else
        a = (SoftNumber){.kind = NUMBER_ZERO, .negative = rounding == SOFT_DOWN};
    return a;
}

SoftNumber number_add(u8 rounding, SoftNumber a, SoftNumber b) {
    if (a.kind == NUMBER_INFINITE || b.kind == NUMBER_ZERO) {
        if (a.kind == NUMBER_ZERO && a.negative != b.negative)
            a.negative = rounding == SOFT_DOWN;
        return a;
    }
    return b.kind == NUMBER_INFINITE || a.kind == NUMBER_ZERO ? b : add_finite(rounding, a, b);
}

bool number_opposite_infinities(const SoftNumber *a, const SoftNumber *b) {
    return a->kind == NUMBER_INFINITE && b->kind == NUMBER_INFINITE && a->negative != b->negative;
}

bool number_zero_times_infinity(const SoftNumber *a, const SoftNumber *b) {
    return (a->kind == NUMBER_ZERO && b->kind == NUMBER_INFINITE) ||
           (a->kind == NUMBER_INFINITE && b->kind == NUMBER_ZERO);
}

/* Significands have at most 64 bits, so that their upper halves have all of them. */
SoftNumber number_multiply(const SoftNumber *a, const SoftNumber *b) {
    SoftNumber n = {.kind = NUMBER_FINITE, .negative = a->negative != b->negative};
    if (a->kind != NUMBER_FINITE || b->kind != NUMBER_FINITE) {
        n.kind = a->kind == NUMBER_ZERO || b->kind == NUMBER_ZERO ? NUMBER_ZERO : NUMBER_INFINITE;
        return n;
    }
    n.exponent = a->exponent + b->exponent + 1;
    n.significand = (a->significand >> 64) * (b->significand >> 64);
    number_normalize(&n);
    return n;
}

/* Of the quotient's 127 bits the first 63 or 64 come from one division, and the others from one of its remainder. */
SoftNumber number_divide(const SoftNumber *a, const SoftNumber *b) {
    SoftNumber n = {
        .kind = NUMBER_FINITE, .negative = a->negative != b->negative, .exponent = a->exponent - b->exponent};
    u128 dividend = a->significand >> 1, divisor = b->significand >> 64;
    u128 quotient = dividend / divisor, rest = dividend % divisor << 63;
    n.significand = quotient << 63 | rest / divisor;
    n.exponent++;
    n.significand |= rest % divisor != 0;
    number_normalize(&n);
    return n;
}

/* The magnitude of a finite number below 2^65, rounded; whether that was exact. */
u128 number_integer(u8 rounding, const SoftNumber *n, bool *exact) {
    u32 drop = n->exponent < 0 ? 127 : 127 - (u32)n->exponent;
    u128 v = n->exponent < 0 ? number_shift(n->significand, (u32)-n->exponent) : n->significand;
    *exact = !(v & (((u128)1 << drop) - 1));
    return number_round(rounding, n->negative, v, drop);
}

/* The largest number whose square is not above v * 2^(2 * MORE), bit by bit, and whether that square is less. */
enum { MORE = 4 };

SoftNumber number_root(const SoftNumber *a) {
    u128 v = a->exponent & 1 ? a->significand : a->significand >> 1, root = 0, rest = 0;
    for (int i = 0; i < 64 + MORE; i++) {
        rest = rest << 2 | v >> 126;
        v <<= 2;
        u128 trial = root << 2 | 1;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1;
        }
    }
    SoftNumber n = {.kind = NUMBER_FINITE, .exponent = (a->exponent - (a->exponent & 1)) / 2};
    n.significand = root << (64 - MORE) | (rest != 0);
    return n;
}
