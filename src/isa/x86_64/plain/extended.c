/* extended.c: see extended.h. */
#include "isa/x86_64/plain/extended.h"

enum { LEAST = 1 - EXTENDED_BIAS };

Extended extended_indefinite(void) {
    return (Extended){(u64)3 << 62, EXTENDED_SIGN | EXTENDED_MAX};
}

Extended extended_infinity(bool negative) {
    return (Extended){(u64)1 << 63, (u16)(EXTENDED_MAX | (negative ? EXTENDED_SIGN : 0))};
}

Extended extended_zero(bool negative) {
    return (Extended){0, negative ? EXTENDED_SIGN : 0};
}

SoftRounding extended_rounding(u16 cw) {
    static const u8 modes[] = {SOFT_NEAREST_EVEN, SOFT_DOWN, SOFT_UP, SOFT_TO_ZERO};
    return modes[cw >> 10 & 3];
}

/* -------------------------------------------------------------------------------------------------------- apart and together */

SoftNumber extended_unpack(Extended v) {
    SoftNumber n = {.kind = NUMBER_FINITE, .negative = extended_negative(v)};
    if (extended_is_zero(v) || extended_is_infinite(v)) {
        n.kind = extended_is_zero(v) ? NUMBER_ZERO : NUMBER_INFINITE;
        return n;
    }
    u16 exponent = extended_exponent(v);
    n.significand = (u128)v.significand << 64;
    n.exponent = (exponent ? exponent : 1) - EXTENDED_BIAS;
    number_normalize(&n);
    return n;
}

static Extended overflow(SoftRounding rounding, bool negative, u32 drop, u16 *sw) {
    bool to_infinity = rounding == SOFT_NEAREST_EVEN || rounding == (negative ? SOFT_DOWN : SOFT_UP);
    *sw |= FPU_OE | FPU_PE | (to_infinity ? FPU_C1 : 0);
    u16 sign = negative ? EXTENDED_SIGN : 0;
    return to_infinity ? extended_infinity(negative)
                       : (Extended){~(u64)0 << (drop - 64), (u16)(sign | (EXTENDED_MAX - 1))};
}

/* IEEE 754's "after rounding": below the normal numbers also if the exponent had no limit. */
static bool is_tiny(SoftRounding rounding, const SoftNumber *n, u32 drop) {
    return n->exponent < LEAST - 1 || (n->exponent == LEAST - 1 && number_round(rounding, n->negative, n->significand,
                                                                                drop) < (u128)1 << (128 - drop));
}

static Extended pack_finite(SoftRounding rounding, const SoftNumber *n, u32 drop, u16 *sw) {
    bool subnormal = n->exponent < LEAST;
    u128 exact = subnormal ? number_shift(n->significand, (u32)(LEAST - n->exponent)) : n->significand;
    u128 kept = number_round(rounding, n->negative, exact, drop);
    i32 exponent = subnormal ? LEAST : n->exponent;
    if (exact & (((u128)1 << drop) - 1)) {
        *sw |= FPU_PE | (kept != exact >> drop ? FPU_C1 : 0);
        if (subnormal && is_tiny(rounding, n, drop))
            *sw |= FPU_UE;
    }
    if (kept >> (128 - drop)) { /* a carry: all bits are zero but that */
        kept >>= 1;
        exponent++;
    }
    if (exponent > EXTENDED_BIAS) {
        *sw &= (u16)~FPU_C1;
        return overflow(rounding, n->negative, drop, sw);
    }
    u64 significand = (u64)(kept << (drop - 64));
    u16 biased = significand >> 63 ? (u16)(exponent + EXTENDED_BIAS) : 0;
    return (Extended){significand, (u16)(biased | (n->negative ? EXTENDED_SIGN : 0))};
}

static Extended pack(u16 cw, const SoftNumber *n, u32 precision, u16 *sw) {
    switch ((SoftKind)n->kind) {
    case NUMBER_ZERO:
        return extended_zero(n->negative);
    case NUMBER_INFINITE:
        return extended_infinity(n->negative);
    case NUMBER_FINITE:
        return pack_finite(extended_rounding(cw), n, 128 - precision, sw);
    case NUMBER_QUIET:
    case NUMBER_SIGNALING:
        break;
    }
    return extended_indefinite();
}

Extended extended_pack(u16 cw, const SoftNumber *n, u16 *sw) {
    return pack(cw, n, 64, sw);
}

Extended extended_pack_by_control(u16 cw, const SoftNumber *n, u16 *sw) {
    static const u8 precision[] = {24, 64, 53, 64};
    return pack(cw, n, precision[cw >> 8 & 3], sw);
}

/* ------------------------------------------------------------------------------------------------------------ no numbers */

Extended extended_invalid(u16 *sw) {
    *sw |= FPU_IE;
    return extended_indefinite();
}

static Extended quieted(Extended v) {
    v.significand |= (u64)1 << 62;
    return v;
}

/* SDM 1, table 4-7: a quiet one before a signaling one, else the larger significand, and of equal ones the positive. */
static Extended chosen_nan(Extended a, Extended b) {
    if (!extended_is_nan(a) || !extended_is_nan(b))
        return extended_is_nan(a) ? a : b;
    if (extended_is_signaling(a) != extended_is_signaling(b))
        return extended_is_signaling(a) ? b : a;
    if (a.significand != b.significand)
        return a.significand > b.significand ? a : b;
    return extended_negative(a) ? b : a;
}

bool extended_refuses(Extended a, Extended b, Extended *r, u16 *sw) {
    if (extended_is_unsupported(a) || extended_is_unsupported(b)) {
        *r = extended_invalid(sw);
        return true;
    }
    if (extended_is_nan(a) || extended_is_nan(b)) {
        if (extended_is_signaling(a) || extended_is_signaling(b))
            *sw |= FPU_IE;
        *r = quieted(chosen_nan(a, b));
        return true;
    }
    if (extended_is_denormal(a) || extended_is_denormal(b))
        *sw |= FPU_DE;
    return false;
}

/* ------------------------------------------------------------------------------------------------------------- conversions */

Extended extended_from_float(const SoftFormat *f, u64 bits) {
    SoftNumber n = soft_unpack(f, bits);
    u16 ignored = 0;
    if (!number_is_nan(&n))
        return extended_pack(0, &n, &ignored);
    u64 fraction = bits & (((u64)1 << f->fraction_bits) - 1);
    return (Extended){(u64)1 << 63 | fraction << (63 - f->fraction_bits),
                      (u16)(EXTENDED_MAX | (n.negative ? EXTENDED_SIGN : 0))};
}

Extended extended_from_int(i64 v) {
    u16 ignored = 0;
    u64 magnitude = v < 0 ? -(u64)v : (u64)v;
    SoftNumber n = {
        .kind = v ? NUMBER_FINITE : NUMBER_ZERO, .negative = v < 0, .exponent = 127, .significand = magnitude};
    if (v)
        number_normalize(&n);
    return extended_pack(0, &n, &ignored);
}

static u64 float_of_nan(const SoftFormat *f, Extended v, u16 *sw) {
    if (extended_is_signaling(v))
        *sw |= FPU_IE;
    v = quieted(v);
    u64 sign = extended_negative(v) ? (u64)1 << (f->exponent_bits + f->fraction_bits) : 0;
    u64 fraction = v.significand << 1 >> (64 - f->fraction_bits);
    return sign | (((u64)1 << f->exponent_bits) - 1) << f->fraction_bits | fraction;
}

static u16 exceptions_of(const SoftEnv *e) {
    u32 f = e->flags;
    return (u16)((f & SOFT_INVALID ? FPU_IE : 0) | (f & SOFT_OVERFLOW ? FPU_OE : 0) |
                 (f & SOFT_UNDERFLOW ? FPU_UE : 0) | (f & SOFT_INEXACT ? FPU_PE : 0));
}

u64 extended_to_float(u16 cw, const SoftFormat *f, Extended v, u16 *sw) {
    if (extended_is_unsupported(v))
        v = extended_invalid(sw);
    if (extended_is_nan(v))
        return float_of_nan(f, v, sw);
    SoftNumber n = extended_unpack(v);
    SoftEnv e = {.rounding = extended_rounding(cw)}, cut = {.rounding = SOFT_TO_ZERO};
    u64 r = soft_pack(&e, f, &n);
    *sw |= exceptions_of(&e);
    if (r != soft_pack(&cut, f, &n))
        *sw |= FPU_C1;
    return r;
}

u64 extended_to_int(SoftRounding rounding, Extended v, u32 bits, u16 *sw) {
    u64 none = ~(u64)0 << (bits - 1);
    SoftNumber n = extended_unpack(v);
    bool exact = true, no_number = extended_is_unsupported(v) || extended_is_nan(v) || n.kind == NUMBER_INFINITE;
    if (n.kind == NUMBER_ZERO)
        return 0;
    u128 magnitude = no_number || n.exponent > 64 ? (u128)1 << 100 : number_integer(rounding, &n, &exact);
    u128 limit = ((u128)1 << (bits - 1)) - !n.negative;
    if (magnitude > limit) {
        *sw |= FPU_IE;
        return none;
    }
    if (!exact) {
        bool ignored;
        *sw |= FPU_PE | (magnitude != number_integer(SOFT_TO_ZERO, &n, &ignored) ? FPU_C1 : 0);
    }
    return n.negative ? -(u64)magnitude : (u64)magnitude;
}

Extended extended_round(u16 cw, Extended v, u16 *sw) {
    Extended r;
    if (extended_refuses(v, v, &r, sw))
        return r;
    SoftNumber n = extended_unpack(v);
    if (n.kind != NUMBER_FINITE || n.exponent >= 63)
        return v;
    bool exact, ignored;
    u128 whole = number_integer(extended_rounding(cw), &n, &exact);
    if (!exact)
        *sw |= FPU_PE | (whole != number_integer(SOFT_TO_ZERO, &n, &ignored) ? FPU_C1 : 0);
    SoftNumber rounded = {
        .kind = whole ? NUMBER_FINITE : NUMBER_ZERO, .negative = n.negative, .exponent = 127, .significand = whole};
    if (whole)
        number_normalize(&rounded);
    return extended_pack(cw, &rounded, sw);
}

/* -------------------------------------------------------------------------------------------------------------- arithmetic */

Extended extended_add(u16 cw, Extended a, Extended b, u16 *sw) {
    Extended r;
    if (extended_refuses(a, b, &r, sw))
        return r;
    SoftNumber x = extended_unpack(a), y = extended_unpack(b);
    if (number_opposite_infinities(&x, &y))
        return extended_invalid(sw);
    SoftNumber sum = number_add((u8)extended_rounding(cw), x, y);
    return extended_pack_by_control(cw, &sum, sw);
}

/* A NaN keeps its sign. */
Extended extended_sub(u16 cw, Extended a, Extended b, u16 *sw) {
    Extended r;
    if (extended_refuses(a, b, &r, sw))
        return r;
    b.sign_exponent ^= EXTENDED_SIGN;
    return extended_add(cw, a, b, sw);
}

Extended extended_mul(u16 cw, Extended a, Extended b, u16 *sw) {
    Extended r;
    if (extended_refuses(a, b, &r, sw))
        return r;
    SoftNumber x = extended_unpack(a), y = extended_unpack(b);
    if (number_zero_times_infinity(&x, &y)) {
        *sw &= (u16)~FPU_DE;
        return extended_invalid(sw);
    }
    SoftNumber product = number_multiply(&x, &y);
    return extended_pack_by_control(cw, &product, sw);
}

Extended extended_div(u16 cw, Extended a, Extended b, u16 *sw) {
    Extended r;
    if (extended_refuses(a, b, &r, sw))
        return r;
    SoftNumber x = extended_unpack(a), y = extended_unpack(b);
    bool negative = x.negative != y.negative;
    if (x.kind == y.kind && x.kind != NUMBER_FINITE)
        return extended_invalid(sw);
    if (y.kind == NUMBER_ZERO) {
        *sw = (u16)((*sw & ~FPU_DE) | (x.kind == NUMBER_FINITE ? FPU_ZE : 0));
        return extended_infinity(negative);
    }
    if (x.kind != NUMBER_FINITE || y.kind != NUMBER_FINITE)
        return x.kind == NUMBER_INFINITE ? extended_infinity(negative) : extended_zero(negative);
    SoftNumber quotient = number_divide(&x, &y);
    return extended_pack_by_control(cw, &quotient, sw);
}

Extended extended_sqrt(u16 cw, Extended a, u16 *sw) {
    Extended r;
    if (extended_refuses(a, a, &r, sw))
        return r;
    SoftNumber n = extended_unpack(a);
    if (n.kind == NUMBER_ZERO)
        return a;
    if (n.negative) {
        *sw &= (u16)~FPU_DE;
        return extended_invalid(sw);
    }
    if (n.kind == NUMBER_INFINITE)
        return a;
    n = number_root(&n);
    return extended_pack_by_control(cw, &n, sw);
}

/* ---------------------------------------------------------------------------------------------------------------- compares */

static int order(const SoftNumber *a, const SoftNumber *b) {
    if (a->kind == NUMBER_ZERO && b->kind == NUMBER_ZERO)
        return 0;
    SoftNumber minus_b = *b;
    minus_b.negative = !b->negative;
    if (number_opposite_infinities(a, &minus_b))
        return 0;
    SoftNumber difference = number_add(SOFT_NEAREST_EVEN, *a, minus_b);
    return difference.kind == NUMBER_ZERO ? 0 : difference.negative ? -1 : 1;
}

u16 extended_compare(Extended a, Extended b, bool quiet) {
    u16 sw = 0, unordered = FPU_C0 | FPU_C2 | FPU_C3;
    Extended ignored;
    if (extended_refuses(a, b, &ignored, &sw)) {
        bool none = extended_is_unsupported(a) || extended_is_unsupported(b);
        return (u16)(sw | unordered | (quiet && !none ? 0 : FPU_IE));
    }
    SoftNumber x = extended_unpack(a), y = extended_unpack(b);
    int o = order(&x, &y);
    return (u16)(sw | (o < 0 ? FPU_C0 : o == 0 ? FPU_C3 : 0));
}
