/* x87_functions.c: the rarer x87 instructions for lifted code, in integers: scaling, remainders, decimals, transcendental functions.
 *
 * A CPU's transcendental functions are right to the last bit or the one before, each model in its own way. Here they are the C library's in a
 * wider format, rounded: the last bit may be another. */
#include <float.h>
#include <math.h>

#include "isa/x86_64/plain/extended.h"

#include "isa/x86_64/helpers/helpers_x87_stack.h"

#if LDBL_MANT_DIG < 113
#error "long double must have more bits than the x87 unit"
#endif

/* ---------------------------------------------------------------------------------------------- exact ones of two operands */

typedef Extended Function(u16 cw, Extended a, Extended b, u16 *sw);

/* ST(0) by ST(0) and ST(1). */
static void on_two(LatheX86Cpu *cpu, Function *function) {
    u16 sw = 0;
    if (underflows(cpu, 0, 1, 0))
        return;
    Extended r = function(cpu->fpu_cw, *fpu_slot(cpu, 0), *fpu_slot(cpu, 1), &sw);
    put_result(cpu, 0, r, sw, 0);
}

/* The integer part, as far as it matters for an exponent. */
static i32 small_integer(const SoftNumber *n) {
    bool ignored;
    if (n->kind != NUMBER_FINITE || n->exponent < 0)
        return 0;
    i32 v = n->exponent > 17 ? 1 << 18 : (i32)number_integer(SOFT_TO_ZERO, n, &ignored);
    return n->negative ? -v : v;
}

static Extended scale_by_infinity(Extended a, bool down, u16 *sw) {
    if (down ? extended_is_infinite(a) : extended_is_zero(a))
        return extended_invalid(sw);
    return down ? extended_zero(extended_negative(a)) : extended_infinity(extended_negative(a));
}

static Extended scale(u16 cw, Extended a, Extended b, u16 *sw) {
    Extended r;
    if (extended_refuses(a, b, &r, sw))
        return r;
    if (extended_is_infinite(b))
        return scale_by_infinity(a, extended_negative(b), sw);
    SoftNumber n = extended_unpack(a), by = extended_unpack(b);
    n.exponent += small_integer(&by);
    return extended_pack(cw, &n, sw);
}

void lathe_x87_scale(LatheX86Cpu *cpu) {
    on_two(cpu, scale);
}

/* -------------------------------------------------------------------------------------------------------------- remainders */

/* What is left of a / b, and the low three bits of the quotient. */
typedef struct Remainder {
    Extended rest;
    u64 quotient;
    bool is_partial;
} Remainder;

/* Both as integers times the same power of two, if exponents differ by less than 64. Below that a quotient is one subtraction a bit. */
static Remainder remainder_of(SoftNumber a, SoftNumber b, bool nearest) {
    u16 ignored = 0;
    i32 distance = a.exponent - b.exponent;
    Remainder r = {.is_partial = distance >= 64};
    if (distance < -1 || (distance == -1 && !nearest)) {
        r.rest = extended_pack(0, &a, &ignored);
        return r;
    }
    /* SDM 2A, FPREM: a partial one takes off 32 to 63; CPUs take off what leaves a distance of less than 64. */
    i32 steps = r.is_partial ? 32 + distance % 32 : distance;
    u128 rest = a.significand >> 64, divisor = b.significand >> 64;
    if (distance == -1) {
        divisor <<= 1;
        steps = 0;
    }
    for (i32 i = 0; i <= steps; i++) {
        if (i)
            rest <<= 1;
        r.quotient = r.quotient << 1 | (rest >= divisor);
        rest -= rest >= divisor ? divisor : 0;
    }
    bool negative = a.negative;
    if (nearest && !r.is_partial && (2 * rest > divisor || (2 * rest == divisor && r.quotient & 1))) {
        rest = divisor - rest;
        negative = !negative;
        r.quotient++;
    }
    i32 unit = (distance == -1 ? a.exponent : a.exponent - steps) - 63; /* of the last bit of rest */
    SoftNumber n = {.kind = rest ? NUMBER_FINITE : NUMBER_ZERO,
                    .negative = rest ? negative : a.negative,
                    .exponent = 127 + unit,
                    .significand = rest};
    if (rest)
        number_normalize(&n);
    r.rest = extended_pack(0, &n, &ignored);
    return r;
}

static void set_quotient(LatheX86Cpu *cpu, const Remainder *r) {
    u16 codes = r->is_partial ? FPU_C2 : 0;
    if (!r->is_partial)
        codes = (u16)((r->quotient & 4 ? FPU_C0 : 0) | (r->quotient & 2 ? FPU_C3 : 0) | (r->quotient & 1 ? FPU_C1 : 0));
    cpu->fpu_sw = (u16)((cpu->fpu_sw & ~FPU_CODES) | codes);
}

static void take_remainder(LatheX86Cpu *cpu, bool nearest) {
    u16 sw = 0;
    Remainder r = {0};
    if (underflows(cpu, 0, 1, 0)) {
        cpu->fpu_sw &= (u16)~FPU_C2;
        return;
    }
    Extended a = *fpu_slot(cpu, 0), b = *fpu_slot(cpu, 1);
    bool refused = extended_refuses(a, b, &r.rest, &sw);
    if (!refused && (extended_is_infinite(a) || extended_is_zero(b))) {
        sw = 0;
        r.rest = extended_invalid(&sw);
        refused = true;
    }
    if (!refused && (extended_is_zero(a) || extended_is_infinite(b)))
        r.rest = a;
    else if (!refused)
        r = remainder_of(extended_unpack(a), extended_unpack(b), nearest);
    u16 before = cpu->fpu_sw;
    put_result(cpu, 0, r.rest, sw, 0);
    bool stopped = sw & ~cpu->fpu_cw & FPU_BEFORE;
    if (refused || stopped) /* C0 and C3 stay */
        cpu->fpu_sw = (u16)((cpu->fpu_sw & ~(FPU_C0 | FPU_C2 | FPU_C3)) | (before & (FPU_C0 | FPU_C3)));
    else
        set_quotient(cpu, &r);
}

void lathe_x87_prem(LatheX86Cpu *cpu) {
    take_remainder(cpu, false);
}

void lathe_x87_prem1(LatheX86Cpu *cpu) {
    take_remainder(cpu, true);
}

/* ----------------------------------------------------------------------------------------------------------------- xtract */

/* The exponent and the significand of a value. */
static void split(Extended v, Extended *exponent, Extended *significand, u16 *sw) {
    SoftNumber n = extended_unpack(v);
    *significand = v;
    if (extended_refuses(v, v, exponent, sw)) {
        *significand = *exponent;
    } else if (extended_is_infinite(v)) {
        *exponent = extended_infinity(false);
    } else if (extended_is_zero(v)) {
        *sw |= FPU_ZE;
        *exponent = extended_infinity(true);
    } else {
        u16 ignored = 0;
        *exponent = extended_from_int(n.exponent);
        n.exponent = 0;
        *significand = extended_pack(0, &n, &ignored);
    }
}

/* Of instructions that need a register and push another: an empty one is an underflow, even where the push would be an overflow. */
static bool cannot_push(LatheX86Cpu *cpu) {
    fpu_wait(cpu);
    bool underflow = fpu_empty(cpu, 0);
    if (!underflow && fpu_empty(cpu, 7))
        return false;
    if (fpu_stack_fault(cpu, underflow ? 0 : FPU_C1)) {
        fpu_set(cpu, 0, extended_indefinite());
        fpu_push(cpu, extended_indefinite());
    }
    return true;
}

static void put_two(LatheX86Cpu *cpu, Extended lower, Extended top, u16 sw) {
    if (!fpu_commit(cpu, sw, FPU_C1, FPU_BEFORE))
        return;
    fpu_set(cpu, 0, lower);
    fpu_push(cpu, top);
}

void lathe_x87_xtract(LatheX86Cpu *cpu) {
    u16 sw = 0;
    Extended exponent, significand;
    if (cannot_push(cpu))
        return;
    split(*fpu_slot(cpu, 0), &exponent, &significand, &sw);
    put_two(cpu, exponent, significand, sw);
}

/* ---------------------------------------------------------------------------------------------------------------- decimals */

enum { BCD_DIGITS = 18 };

void lathe_x87_load_bcd(LatheX86Cpu *cpu, u64 low, u32 high) {
    i64 v = 0;
    if (overflows(cpu))
        return;
    v = (i64)(high >> 4 & 15) * 10 + (high & 15);
    for (int i = 60; i >= 0; i -= 4)
        v = v * 10 + (i64)(low >> i & 15);
    Extended r = extended_from_int(v);
    r.sign_exponent |= high & 0x8000 ? EXTENDED_SIGN : 0;
    load(cpu, r, 0);
}

/* The two pieces are left in the state. */
static void leave_decimal(LatheX86Cpu *cpu, u64 low, u32 high) {
    cpu->scratch[0] = low;
    cpu->scratch[1] = high;
}

void lathe_x87_store_bcd(LatheX86Cpu *cpu) {
    const u64 limit = 1000000000000000000;
    u16 sw = 0;
    u64 low = 0;
    u32 high = 0;
    fpu_wait(cpu);
    if (fpu_empty(cpu, 0)) {
        fpu_stack_fault(cpu, 0);
        leave_decimal(cpu, (u64)3 << 62, 0xffff);
        return;
    }
    Extended v = *fpu_slot(cpu, 0);
    i64 whole = (i64)extended_to_int(extended_rounding(cpu->fpu_cw), v, 64, &sw);
    u64 magnitude = whole < 0 ? -(u64)whole : (u64)whole;
    if (magnitude >= limit)
        sw = FPU_IE;
    for (int i = 0; i < BCD_DIGITS; i++, magnitude /= 10) {
        if (i < 16)
            low |= magnitude % 10 << 4 * i;
        else
            high |= (u32)(magnitude % 10) << 4 * (i - 16);
    }
    high |= extended_negative(v) ? 0x8000 : 0;
    if (sw & FPU_IE)
        leave_decimal(cpu, (u64)3 << 62, 0xffff);
    else
        leave_decimal(cpu, low, high);
    fpu_commit(cpu, sw, FPU_C1, 0);
}

/* ----------------------------------------------------------------------------------------------------------- transcendental */

/* A number in the C library's widest format, which has all of its bits, and back. */
static long double widened(Extended v) {
    long double r =
        ldexpl((long double)v.significand, (extended_exponent(v) ? extended_exponent(v) : 1) - EXTENDED_BIAS - 63);
    return extended_negative(v) ? -r : r;
}

static Extended narrowed(u16 cw, long double v, u16 *sw) {
    if (isnan(v))
        return extended_invalid(sw);
    if (isinf(v))
        return extended_infinity(signbit(v));
    if (v == 0)
        return extended_zero(signbit(v));
    int exponent;
    long double fraction = frexpl(fabsl(v), &exponent);
    u64 high = (u64)ldexpl(fraction, 64);
    long double rest = ldexpl(fraction, 64) - (long double)high;
    SoftNumber n = {.kind = NUMBER_FINITE,
                    .negative = signbit(v),
                    .exponent = exponent - 1,
                    .significand = (u128)high << 64 | (u64)ldexpl(rest, 63) | 1};
    return extended_pack(cw, &n, sw);
}

/* Sine, cosine and tangent are for arguments below 2^63: others stay, with C2 set. */
static bool is_out_of_range(LatheX86Cpu *cpu, Extended v) {
    bool out = !extended_is_nan(v) && !extended_is_infinite(v) && !extended_is_unsupported(v) &&
               extended_exponent(v) >= EXTENDED_BIAS + 63;
    cpu->fpu_sw = (u16)((cpu->fpu_sw & ~FPU_C2) | (out ? FPU_C2 : 0));
    if (out)
        cpu->fpu_sw &= (u16)~FPU_C1;
    return out;
}

static Extended of_angle(u16 cw, Extended v, long double (*function)(long double), u16 *sw) {
    Extended r;
    if (extended_refuses(v, v, &r, sw))
        return r;
    if (extended_is_infinite(v))
        return extended_invalid(sw);
    if (extended_is_zero(v))
        return function == cosl ? extended_from_int(1) : v;
    return narrowed(cw, function(widened(v)), sw);
}

static void circular(LatheX86Cpu *cpu, long double (*function)(long double)) {
    u16 sw = 0;
    if (underflows(cpu, 0, 0, 0) || is_out_of_range(cpu, *fpu_slot(cpu, 0)))
        return;
    Extended r = of_angle(cpu->fpu_cw, *fpu_slot(cpu, 0), function, &sw);
    put_result(cpu, 0, r, sw, 0);
}

void lathe_x87_sin(LatheX86Cpu *cpu) {
    circular(cpu, sinl);
}

void lathe_x87_cos(LatheX86Cpu *cpu) {
    circular(cpu, cosl);
}

void lathe_x87_sincos(LatheX86Cpu *cpu) {
    u16 sw = 0;
    if (cannot_push(cpu) || is_out_of_range(cpu, *fpu_slot(cpu, 0)))
        return;
    Extended v = *fpu_slot(cpu, 0), sine = of_angle(cpu->fpu_cw, v, sinl, &sw),
             cosine = of_angle(cpu->fpu_cw, v, cosl, &sw);
    put_two(cpu, sine, cosine, sw);
}

/* 1 comes above the tangent. */
void lathe_x87_ptan(LatheX86Cpu *cpu) {
    u16 sw = 0;
    if (cannot_push(cpu) || is_out_of_range(cpu, *fpu_slot(cpu, 0)))
        return;
    Extended r = of_angle(cpu->fpu_cw, *fpu_slot(cpu, 0), tanl, &sw);
    put_two(cpu, r, sw & FPU_IE || extended_is_nan(r) ? r : extended_from_int(1), sw);
}

/* Into ST(1), which is popped to. */
static void pop_into(LatheX86Cpu *cpu, Function *function) {
    u16 sw = 0;
    if (underflows(cpu, 1, 0, 1))
        return;
    Extended r = function(cpu->fpu_cw, *fpu_slot(cpu, 1), *fpu_slot(cpu, 0), &sw);
    put_result(cpu, 1, r, sw, 1);
}

static Extended arctangent(u16 cw, Extended y, Extended x, u16 *sw) {
    Extended r;
    if (extended_refuses(y, x, &r, sw))
        return r;
    long double a = extended_is_infinite(y) ? copysignl(INFINITY, widened(y)) : widened(y);
    long double b = extended_is_infinite(x) ? (extended_negative(x) ? -INFINITY : INFINITY) : widened(x);
    return narrowed(cw, atan2l(a, b), sw);
}

void lathe_x87_patan(LatheX86Cpu *cpu) {
    pop_into(cpu, arctangent);
}

static Extended two_to_x_minus_one(u16 cw, Extended v, u16 *sw) {
    Extended r;
    if (extended_refuses(v, v, &r, sw))
        return r;
    if (extended_is_zero(v))
        return v;
    if (extended_is_infinite(v))
        return extended_negative(v) ? (Extended){(u64)1 << 63, EXTENDED_SIGN | EXTENDED_BIAS} : v;
    return narrowed(cw, expm1l(widened(v) * M_LN2l), sw);
}

void lathe_x87_2xm1(LatheX86Cpu *cpu) {
    u16 sw = 0;
    if (underflows(cpu, 0, 0, 0))
        return;
    Extended r = two_to_x_minus_one(cpu->fpu_cw, *fpu_slot(cpu, 0), &sw);
    put_result(cpu, 0, r, sw, 0);
}

/* y * log2(x), by its special cases: SDM 2A, table 3-48. */
static Extended y_log2_x(u16 cw, Extended y, Extended x, u16 *sw) {
    Extended r;
    if (extended_refuses(y, x, &r, sw))
        return r;
    if (extended_is_zero(x)) {
        if (extended_is_zero(y))
            return extended_invalid(sw);
        *sw |= extended_is_infinite(y) ? 0 : FPU_ZE;
        return extended_infinity(!extended_negative(y));
    }
    if (extended_negative(x))
        return extended_invalid(sw);
    long double log = extended_is_infinite(x) ? INFINITY : log2l(widened(x));
    long double by = extended_is_infinite(y) ? copysignl(INFINITY, widened(y)) : widened(y);
    return narrowed(cw, by * log, sw);
}

void lathe_x87_yl2x(LatheX86Cpu *cpu) {
    pop_into(cpu, y_log2_x);
}

static Extended y_log2_x_plus_one(u16 cw, Extended y, Extended x, u16 *sw) {
    Extended r;
    if (extended_refuses(y, x, &r, sw))
        return r;
    long double log = extended_is_infinite(x) ? (extended_negative(x) ? NAN : INFINITY) : log1pl(widened(x)) / M_LN2l;
    long double by = extended_is_infinite(y) ? copysignl(INFINITY, widened(y)) : widened(y);
    return narrowed(cw, by * log, sw);
}

void lathe_x87_yl2xp1(LatheX86Cpu *cpu) {
    pop_into(cpu, y_log2_x_plus_one);
}
