/* helpers_float.c: floating point by integers, as the manual's pseudocode (FPAdd, FPMulAdd, FPToFixed, …) has it: exact in every mode that
 * fpcr can choose, with the flags of fpsr. */
#include "isa/aarch64/helpers_float.h"
#include "isa/aarch64/float_soft.h"
#include "isa/aarch64/helpers.h"
#include "isa/softnumber.h"
#include "lathe/types.h"

/* ------------------------------------------------------------------------------------------------------------- formats */

static const SoftFormat *format_of(u32 format) {
    static const SoftFormat *const formats[] = {[A64_F16] = &soft_f16, [A64_F32] = &soft_f32, [A64_F64] = &soft_f64};
    return formats[format % 3];
}

u64 a64_sign_bit(const SoftFormat *f) {
    return (u64)1 << (f->exponent_bits + f->fraction_bits);
}

u64 a64_infinity(const SoftFormat *f) {
    return (((u64)1 << f->exponent_bits) - 1) << f->fraction_bits;
}

static u64 quiet_bit(const SoftFormat *f) {
    return (u64)1 << (f->fraction_bits - 1);
}

u64 a64_default_nan(const SoftFormat *f) {
    return a64_infinity(f) | quiet_bit(f);
}

static u64 magnitude(const SoftFormat *f, u64 v) {
    return v & ~a64_sign_bit(f);
}

static u64 negated(const SoftFormat *f, u64 v) {
    return v ^ a64_sign_bit(f);
}

static bool is_nan(const SoftFormat *f, u64 v) {
    return magnitude(f, v) > a64_infinity(f);
}

static bool is_signaling(const SoftFormat *f, u64 v) {
    return is_nan(f, v) && !(v & quiet_bit(f));
}

/* --------------------------------------------------------------------------------------------------------- environment */

enum { FPCR_FZ16 = 1 << 19, FPCR_FZ = 1 << 24, FPCR_DN = 1 << 25, FPCR_AHP = 1 << 26 };
enum { FPSR_INPUT_DENORMAL = 1 << 7 };

static bool flushes(const A64Env *e, const SoftFormat *f) {
    return e->fpcr & (f == &soft_f16 ? FPCR_FZ16 : FPCR_FZ);
}

/* What is below the normal numbers is taken for zero; of halves that is not told. */
static u64 flushed(A64Env *e, const SoftFormat *f, u64 v) {
    u64 m = magnitude(f, v);
    if (!flushes(e, f) || !m || m >> f->fraction_bits)
        return v;
    if (f != &soft_f16)
        e->fpsr |= FPSR_INPUT_DENORMAL;
    return v & a64_sign_bit(f);
}

static void set_format(A64Env *e, const SoftFormat *f) {
    e->f = f;
    e->soft.tiny_before = true;
    e->soft.flush = flushes(e, f);
}

/* ---------------------------------------------------------------------------------------------------------- no numbers */

static u64 processed_nan(A64Env *e, u64 v) {
    if (is_signaling(e->f, v))
        e->soft.flags |= SOFT_INVALID;
    return e->fpcr & FPCR_DN ? a64_default_nan(e->f) : v | quiet_bit(e->f);
}

/* The first signaling one, else the first. False: there is none. */
static bool process_nans(A64Env *e, const u64 *v, u32 count, u64 *result) {
    const u64 *found = NULL;
    for (u32 i = 0; i < count && !found; i++)
        found = is_signaling(e->f, v[i]) ? &v[i] : NULL;
    for (u32 i = 0; i < count && !found; i++)
        found = is_nan(e->f, v[i]) ? &v[i] : NULL;
    if (found)
        *result = processed_nan(e, *found);
    return found;
}

u64 a64_invalid(A64Env *e) {
    e->soft.flags |= SOFT_INVALID;
    return a64_default_nan(e->f);
}

/* ---------------------------------------------------------------------------------------------------------- arithmetic */

static u64 constant(A64Env *e, double value, bool negative) {
    u64 bits;
    SoftEnv exact = {0};
    memcpy(&bits, &value, 8);
    u64 v = soft_convert(&exact, &soft_f64, e->f, bits);
    return negative ? negated(e->f, v) : v;
}

static bool zero_times_infinity(const A64Env *e, u64 a, u64 b) {
    SoftNumber x = soft_unpack(e->f, a), y = soft_unpack(e->f, b);
    return number_zero_times_infinity(&x, &y);
}

static u64 multiply(A64Env *e, u64 a, u64 b) {
    return soft_mul(&e->soft, e->f, a, b);
}

/* An infinity times zero is two. */
static u64 multiply_extended(A64Env *e, u64 a, u64 b) {
    if (zero_times_infinity(e, a, b))
        return constant(e, 2, (a ^ b) & a64_sign_bit(e->f));
    return multiply(e, a, b);
}

/* The manual, FPMulAdd: the addend's NaN comes first, and is none if infinity is multiplied by zero. */
static u64 multiply_add(A64Env *e, u64 a, u64 b, u64 c) {
    u64 v[] = {c, a, b}, result;
    bool none = process_nans(e, v, 3, &result);
    if (is_nan(e->f, c) && !is_signaling(e->f, c) && zero_times_infinity(e, a, b))
        return a64_invalid(e);
    return none ? result : soft_fma(&e->soft, e->f, a, b, c);
}

/* 2 - a * b, or (3 - a * b) / 2, rounded once. */
static u64 step(A64Env *e, u64 a, u64 b, bool of_root) {
    a = negated(e->f, a);
    u64 v[] = {a, b}, result;
    if (process_nans(e, v, 2, &result))
        return result;
    if (zero_times_infinity(e, a, b))
        return constant(e, of_root ? 1.5 : 2, false);
    SoftNumber x = soft_unpack(e->f, a), y = soft_unpack(e->f, b), product = number_multiply(&x, &y);
    SoftNumber from = soft_unpack(e->f, constant(e, of_root ? 3 : 2, false));
    SoftNumber sum = number_add(e->soft.rounding, product, from);
    if (of_root && sum.kind == NUMBER_FINITE)
        sum.exponent--;
    return soft_pack(&e->soft, e->f, &sum);
}

/* ------------------------------------------------------------------------------------------------------------ ordering */

/* Of numbers: -1, 0 or 1. */
static int compare(const A64Env *e, u64 a, u64 b) {
    u64 sign = a64_sign_bit(e->f);
    if (!magnitude(e->f, a) && !magnitude(e->f, b))
        return 0;
    if ((a ^ b) & sign)
        return a & sign ? -1 : 1;
    return a == b ? 0 : (a < b) != (bool)(a & sign) ? -1 : 1;
}

static u64 extreme(A64Env *e, u64 a, u64 b, bool largest, bool number) {
    u64 v[] = {a, b}, result;
    if (number && is_nan(e->f, a) != is_nan(e->f, b) && !is_signaling(e->f, a) && !is_signaling(e->f, b))
        return is_nan(e->f, a) ? b : a;
    if (process_nans(e, v, 2, &result))
        return result;
    int order = compare(e, a, b);
    if (!order)
        return largest ? a & b : a | b; /* zeros, by their signs */
    return (order > 0) == largest ? a : b;
}

/* True, and invalid where that is to be told: one is not a number. */
static bool unordered(A64Env *e, u64 a, u64 b, bool signaling) {
    if (!is_nan(e->f, a) && !is_nan(e->f, b))
        return false;
    if (signaling || is_signaling(e->f, a) || is_signaling(e->f, b))
        e->soft.flags |= SOFT_INVALID;
    return true;
}

static u64 compare_flags(A64Env *e, u64 a, u64 b, bool signaling) {
    if (unordered(e, a, b, signaling))
        return 3;
    int order = compare(e, a, b);
    return order < 0 ? 8 : order ? 2 : 6;
}

static u64 is_at_least(A64Env *e, u64 a, u64 b, bool or_equal) {
    return !unordered(e, a, b, true) && compare(e, a, b) >= !or_equal;
}

/* --------------------------------------------------------------------------------------------------------- conversions */

static SoftNumber scaled(SoftNumber n, i32 by) {
    if (n.kind == NUMBER_FINITE)
        n.exponent += by;
    return n;
}

static u32 int_bits(u32 what) {
    return what & A64_SOFT_LONG ? 64 : what & A64_SOFT_SHORT ? 16 : 32;
}

/* The manual, FPToFixed: what is not a number becomes zero. */
static u64 to_int(A64Env *e, u64 a, u32 what) {
    if (is_nan(e->f, a)) {
        e->soft.flags |= SOFT_INVALID;
        return 0;
    }
    SoftNumber n = scaled(soft_unpack(e->f, a), (i32)(what >> 24 & 127));
    return soft_number_to_int(&e->soft, n, int_bits(what), what & A64_SOFT_SIGNED);
}

static u64 from_int(A64Env *e, u64 v, u32 what) {
    u32 unused = 64 - int_bits(what);
    bool is_signed = what & A64_SOFT_SIGNED, negative = is_signed && v << unused >> 63;
    v = is_signed ? (u64)((i64)(v << unused) >> unused) : v << unused >> unused;
    SoftNumber n = {.kind = NUMBER_FINITE, .negative = negative, .exponent = 127, .significand = negative ? -v : v};
    if (!v)
        return 0;
    number_normalize(&n);
    n.exponent -= (i32)(what >> 24 & 127);
    return soft_pack(&e->soft, e->f, &n);
}

/* The alternative halves have numbers in place of infinities and what is no number. */
static const SoftFormat alternative_half = {6, 10};

static u64 to_alternative_half(A64Env *e, const SoftFormat *from, u64 a) {
    u64 sign = a & a64_sign_bit(from) ? 0x8000 : 0, m = magnitude(from, a);
    if (m >= a64_infinity(from)) {
        e->soft.flags |= SOFT_INVALID;
        return m == a64_infinity(from) ? sign | 0x7fff : sign;
    }
    /* One more bit of exponent, so that the largest numbers are some; its bias is 31 in place of 15. */
    SoftNumber n = scaled(soft_unpack(from, a), -16);
    SoftEnv soft = e->soft;
    if (n.kind == NUMBER_FINITE &&
        n.exponent < -30) { /* below its normal numbers: by the other bias they are those of a half */
        n.exponent += 16;
        u64 r = soft_pack(&e->soft, &soft_f16, &n);
        return (r & 0x7fff) | sign;
    }
    u64 r = soft_pack(&soft, &alternative_half, &n) & 0xffff;
    if (n.kind == NUMBER_FINITE && r >= 0x8000) {
        e->soft.flags |= SOFT_INVALID;
        return sign | 0x7fff;
    }
    e->soft.flags |= soft.flags;
    return r | sign;
}

static u64 converted_nan(A64Env *e, const SoftFormat *from, u64 a) {
    if (is_signaling(from, a))
        e->soft.flags |= SOFT_INVALID;
    if (e->fpcr & FPCR_DN)
        return a64_default_nan(e->f);
    u64 fraction = a & (((u64)1 << from->fraction_bits) - 1);
    i32 up = e->f->fraction_bits - from->fraction_bits;
    fraction = up >= 0 ? fraction << up : fraction >> -up;
    return (a & a64_sign_bit(from) ? a64_sign_bit(e->f) : 0) | a64_default_nan(e->f) | fraction;
}

/* Neither operand nor result are flushed if they are halves. */
static u64 convert(A64Env *e, u64 a, const SoftFormat *from) {
    if (from != &soft_f16)
        a = flushed(e, from, a);
    e->soft.flush = e->f != &soft_f16 && flushes(e, e->f);
    bool alternative = e->fpcr & FPCR_AHP;
    if (alternative && e->f == &soft_f16)
        return to_alternative_half(e, from, a);
    if (alternative && from == &soft_f16 && magnitude(from, a) >= a64_infinity(from)) {
        u64 sign = a & 0x8000 ? a64_sign_bit(e->f) : 0;
        SoftNumber n = {.kind = NUMBER_FINITE, .exponent = 16, .significand = (u128)(0x400 | (a & 0x3ff)) << 117};
        return sign | soft_pack(&e->soft, e->f, &n);
    }
    return is_nan(from, a) ? converted_nan(e, from, a) : soft_convert(&e->soft, from, e->f, a);
}

static u64 round_to_integral(A64Env *e, u64 a, bool tell) {
    u64 result;
    if (process_nans(e, &a, 1, &result))
        return result;
    e->soft.flush = false;
    return soft_round(&e->soft, e->f, a, tell);
}

/* frint32z and others: what is no such integer becomes the least one, and invalid. */
static u64 round_to_int(A64Env *e, u64 a, u32 what) {
    SoftEnv quiet = e->soft;
    u64 r = soft_round(&quiet, e->f, a, true), least = constant(e, what & A64_SOFT_LONG ? -0x1p63 : -0x1p31, false);
    SoftEnv check = {.rounding = SOFT_TO_ZERO};
    bool none = is_nan(e->f, a);
    if (!none)
        soft_to_int(&check, e->f, r, int_bits(what), true);
    if (none || check.flags & SOFT_INVALID) {
        e->soft.flags |= SOFT_INVALID;
        return least;
    }
    e->soft.flags = quiet.flags;
    return r;
}

/* The manual, FPToFixedJS: modulo 2^32; Z is set if nothing was lost. Minus zero is lost, too. */
static u64 to_javascript(A64Env *e, u64 a) {
    SoftNumber n = soft_unpack(&soft_f64, a);
    if (n.kind == NUMBER_ZERO)
        return (u64)!n.negative << 32;
    if (n.kind != NUMBER_FINITE) {
        e->soft.flags |= SOFT_INVALID;
        return 0;
    }
    e->soft.rounding = SOFT_TO_ZERO;
    SoftEnv fits = e->soft;
    soft_to_int(&fits, &soft_f64, a, 32, true);
    e->soft.flags |= fits.flags;
    u64 significand = (u64)(n.significand >> 75), v = 0; /* 53 bits */
    i32 shift = n.exponent - 52;
    if (shift < 0 && shift > -64)
        v = significand >> -shift;
    else if (shift >= 0 && shift < 32)
        v = significand << shift;
    v = n.negative ? -v : v;
    return (v & 0xffffffff) | (u64) !(fits.flags & (SOFT_INVALID | SOFT_INEXACT)) << 32;
}

static u64 to_bfloat(A64Env *e, u64 a) {
    static const SoftFormat bfloat = {8, 7};
    a = flushed(e, &soft_f32, a);
    e->f = &bfloat;
    e->soft.flush = e->fpcr & FPCR_FZ;
    return is_nan(&soft_f32, a) ? converted_nan(e, &soft_f32, a) : soft_convert(&e->soft, &soft_f32, &bfloat, a);
}

/* ------------------------------------------------------------------------------------------------------- the function */

static u64 of_two(A64Env *e, u64 a, u64 b, A64SoftOp op) {
    u64 v[] = {a, b}, result;
    if (process_nans(e, v, op == A64_FSQRT ? 1 : 2, &result))
        return op == A64_FNMUL ? negated(e->f, result) : op == A64_FABD ? magnitude(e->f, result) : result;
    switch (op) {
    case A64_FADD:
        return soft_add(&e->soft, e->f, a, b);
    case A64_FSUB:
        return soft_sub(&e->soft, e->f, a, b);
    case A64_FABD:
        return magnitude(e->f, soft_sub(&e->soft, e->f, a, b));
    case A64_FMUL:
        return multiply(e, a, b);
    case A64_FNMUL:
        return negated(e->f, multiply(e, a, b));
    case A64_FMULX:
        return multiply_extended(e, a, b);
    case A64_FDIV:
        return soft_div(&e->soft, e->f, a, b);
    default:
        return soft_sqrt(&e->soft, e->f, a);
    }
}

static u64 operate(A64Env *e, u64 a, u64 b, u64 c, u32 what) {
    const SoftFormat *f = e->f;
    switch ((A64SoftOp)(what & 0xff)) {
    case A64_FADD:
    case A64_FSUB:
    case A64_FABD:
    case A64_FMUL:
    case A64_FNMUL:
    case A64_FMULX:
    case A64_FDIV:
    case A64_FSQRT:
        return of_two(e, a, b, (A64SoftOp)(what & 0xff));
    case A64_FMADD:
        return multiply_add(e, a, b, c);
    case A64_FMSUB:
        return multiply_add(e, negated(f, a), b, c);
    case A64_FNMADD:
        return multiply_add(e, negated(f, a), b, negated(f, c));
    case A64_FNMSUB:
        return multiply_add(e, a, b, negated(f, c));
    case A64_FMAX:
    case A64_FMAXNM:
        return extreme(e, a, b, true, (what & 0xff) == A64_FMAXNM);
    case A64_FMIN:
    case A64_FMINNM:
        return extreme(e, a, b, false, (what & 0xff) == A64_FMINNM);
    case A64_FRECPS:
        return step(e, a, b, false);
    case A64_FRSQRTS:
        return step(e, a, b, true);
    case A64_FRECPE:
        return process_nans(e, &a, 1, &c) ? c : a64_estimate(e, a, false);
    case A64_FRSQRTE:
        return process_nans(e, &a, 1, &c) ? c : a64_estimate(e, a, true);
    case A64_FRECPX:
        return process_nans(e, &a, 1, &c) ? c : a64_exponent(e, a);
    case A64_FCMP:
    case A64_FCMPE:
        return compare_flags(e, a, b, (what & 0xff) == A64_FCMPE);
    case A64_FEQ:
        return !unordered(e, a, b, false) && !compare(e, a, b);
    case A64_FGE:
    case A64_FGT:
        return is_at_least(e, a, b, (what & 0xff) == A64_FGE);
    case A64_FACGE:
    case A64_FACGT:
        return is_at_least(e, magnitude(f, a), magnitude(f, b), (what & 0xff) == A64_FACGE);
    case A64_FRINT:
        return round_to_integral(e, a, what & A64_SOFT_EXACT);
    case A64_FRINT_INT:
        return round_to_int(e, a, what);
    case A64_FCONVERT:
        return convert(e, a, format_of(what >> 10 & 3));
    case A64_FTO_INT:
        return to_int(e, a, what);
    case A64_FFROM_INT:
        return from_int(e, a, what);
    case A64_FTO_JAVASCRIPT:
        return to_javascript(e, a);
    case A64_FTO_BFLOAT:
        return to_bfloat(e, a);
    }
    return 0;
}

/* fpsr has invalid, divide, overflow, underflow, inexact from bit 0 up. */
static u32 fpsr_flags(u8 soft) {
    return (soft & SOFT_INVALID ? 1 : 0) | (soft & SOFT_DIVIDE ? 2 : 0) | (soft & SOFT_OVERFLOW ? 4 : 0) |
           (soft & SOFT_UNDERFLOW ? 8 : 0) | (soft & SOFT_INEXACT ? 16 : 0);
}

static bool takes_floats(A64SoftOp op) {
    return op != A64_FCONVERT && op != A64_FFROM_INT && op != A64_FTO_BFLOAT;
}

u64 lathe_aarch64_float(LatheAarch64Cpu *cpu, u64 a, u64 b, u64 c, u32 what) {
    static const u8 rounding[] = {SOFT_NEAREST_EVEN, SOFT_UP, SOFT_DOWN, SOFT_TO_ZERO};
    u32 mode = what >> 12 & 7;
    A64Env e = {.fpcr = cpu->fpcr, .fpsr = 0};
    e.soft.rounding = mode == A64_ROUND_FPCR ? rounding[cpu->fpcr >> 22 & 3] : (u8)mode;
    set_format(&e, format_of(what >> 8 & 3));
    if (takes_floats((A64SoftOp)(what & 0xff))) {
        a = flushed(&e, e.f, a);
        b = flushed(&e, e.f, b);
        c = flushed(&e, e.f, c);
    }
    u64 r = operate(&e, a, b, c, what);
    cpu->fpsr |= e.fpsr | fpsr_flags(e.soft.flags);
    return r;
}

const Helper a64_float_helpers[] = {
    {A64_SOFT_FLOAT, (void *)lathe_aarch64_float},
    {NULL, NULL},
};
