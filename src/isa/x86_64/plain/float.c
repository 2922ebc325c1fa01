/* float.c: strict SSE floating point in integers: the CPU's NaNs, denormals and exceptions, by the mxcsr of the guest state. */
#include <signal.h>

#include "isa/softfloat.h"
#include "isa/x86_64/float_op.h"
#include "lathe/types.h"

/* mxcsr: exceptions, then denormals are zeros, masks, rounding, flush to zero. */
enum {
    IE = 1,
    DE = 2,
    ZE = 4,
    OE = 8,
    UE = 16,
    PE = 32,
    EXCEPTIONS = 63,
    DAZ = 1 << 6,
    MASKS_SHIFT = 7,
    ROUNDING_SHIFT = 13,
    FTZ = 1 << 15,
};

/* One operation on one lane. */
typedef struct Job {
    const SoftFormat *f;
    SoftEnv env;
    u32 mxcsr;
    u32 raised; /* besides what env has */
} Job;

static u64 sign_bit(const SoftFormat *f) {
    return (u64)1 << (f->exponent_bits + f->fraction_bits);
}

static u64 infinity(const SoftFormat *f) {
    return (((u64)1 << f->exponent_bits) - 1) << f->fraction_bits;
}

static u64 quiet_bit(const SoftFormat *f) {
    return (u64)1 << (f->fraction_bits - 1);
}

/* The real indefinite. */
static u64 indefinite(const SoftFormat *f) {
    return sign_bit(f) | infinity(f) | quiet_bit(f);
}

static bool is_nan(const SoftFormat *f, u64 v) {
    return (v & ~sign_bit(f)) > infinity(f);
}

static bool is_signaling(const SoftFormat *f, u64 v) {
    return is_nan(f, v) && !(v & quiet_bit(f));
}

static bool is_denormal(const SoftFormat *f, u64 v) {
    return !(v & infinity(f)) && v & ~sign_bit(f);
}

/* What an operand counts as, and the exception that a denormal one is. */
static u64 taken(Job *j, u64 v) {
    if (!is_denormal(j->f, v))
        return v;
    if (j->mxcsr & DAZ)
        return v & sign_bit(j->f);
    j->raised |= DE;
    return v;
}

/* -------------------------------------------------------------------------------------------------------------- arithmetic */

static u64 rounded(Job *j, u64 r) {
    bool tiny = is_denormal(j->f, r) || j->env.flags & SOFT_UNDERFLOW;
    if (is_nan(j->f, r))
        return indefinite(j->f);
    if (tiny && j->mxcsr & FTZ && j->mxcsr & UE << MASKS_SHIFT) {
        j->raised |= UE | PE;
        return r & sign_bit(j->f);
    }
    if (tiny && !(j->mxcsr & UE << MASKS_SHIFT))
        j->raised |= UE;
    return r;
}

/* SDM 1, 4.8.3.5: the first operand if it is not a number, else the second. */
static bool propagates(Job *j, u64 a, u64 b, u64 *r) {
    if (!is_nan(j->f, a) && !is_nan(j->f, b))
        return false;
    if (is_signaling(j->f, a) || is_signaling(j->f, b))
        j->raised |= IE;
    *r = (is_nan(j->f, a) ? a : b) | quiet_bit(j->f);
    return true;
}

static u64 arithmetic(Job *j, FloatOp op, u64 a, u64 b) {
    u64 r;
    if (propagates(j, a, b, &r))
        return r;
    a = taken(j, a);
    b = taken(j, b);
    switch (op) {
    case FLOAT_ADD:
        r = soft_add(&j->env, j->f, a, b);
        break;
    case FLOAT_SUB:
        r = soft_sub(&j->env, j->f, a, b);
        break;
    case FLOAT_MUL:
        r = soft_mul(&j->env, j->f, a, b);
        break;
    default:
        r = soft_div(&j->env, j->f, a, b);
        break;
    }
    if (j->env.flags & (SOFT_INVALID | SOFT_DIVIDE))
        j->raised &= ~(u32)DE; /* SDM 1, 4.9.2: these come first */
    return rounded(j, r);
}

static u64 square_root(Job *j, u64 a) {
    u64 r;
    if (propagates(j, a, a, &r))
        return r;
    a = taken(j, a);
    r = soft_sqrt(&j->env, j->f, a);
    if (j->env.flags & SOFT_INVALID)
        j->raised &= ~(u32)DE;
    return rounded(j, r);
}

/* ---------------------------------------------------------------------------------------------------------------- compares */

typedef enum Relation { LESS, EQUAL, GREATER, UNORDERED } Relation;

static Relation compare(const SoftFormat *f, u64 a, u64 b) {
    if (is_nan(f, a) || is_nan(f, b))
        return UNORDERED;
    u64 s = sign_bit(f);
    i64 x = a & s ? -(i64)(a & ~s) : (i64)a, y = b & s ? -(i64)(b & ~s) : (i64)b;
    return x < y ? LESS : x > y ? GREATER : EQUAL;
}

static Relation compared(Job *j, u64 a, u64 b, bool signaling) {
    if (is_signaling(j->f, a) || is_signaling(j->f, b) || (signaling && (is_nan(j->f, a) || is_nan(j->f, b))))
        j->raised |= IE;
    if (is_nan(j->f, a) || is_nan(j->f, b))
        return UNORDERED;
    a = taken(j, a);
    b = taken(j, b);
    return compare(j->f, a, b);
}

/* SDM 2A, CMPPD. */
static u64 compare_mask(Job *j, u64 a, u64 b, u32 predicate) {
    static const bool signaling[] = {false, true, true, false, false, true, true, false};
    Relation r = compared(j, a, b, signaling[predicate & 3]);
    bool holds = false;
    switch (predicate & 3) {
    case 0:
        holds = r == EQUAL;
        break;
    case 1:
        holds = r == LESS;
        break;
    case 2:
        holds = r == LESS || r == EQUAL;
        break;
    case 3:
        holds = r == UNORDERED;
        break;
    }
    return holds != (predicate >> 2 & 1) ? ~(u64)0 : 0;
}

static u64 compare_flags(Job *j, u64 a, u64 b, bool signaling) {
    static const u8 flags[] = {[LESS] = 1, [EQUAL] = 0x40, [GREATER] = 0, [UNORDERED] = 0x45};
    return flags[compared(j, a, b, signaling)];
}

/* SDM 2B, MINSD: the second operand if either is NaN or both are zeros. */
static u64 extreme(Job *j, u64 a, u64 b, Relation keeps_first) {
    Relation r = compared(j, a, b, true);
    if (j->mxcsr & DAZ) {
        a = is_denormal(j->f, a) ? a & sign_bit(j->f) : a;
        b = is_denormal(j->f, b) ? b & sign_bit(j->f) : b;
    }
    return r == keeps_first ? a : b;
}

/* ------------------------------------------------------------------------------------------------------------- conversions */

/* The integer indefinite where there is none. */
static u64 to_int(Job *j, u64 a, u32 bits) {
    a = is_denormal(j->f, a) && j->mxcsr & DAZ ? a & sign_bit(j->f) : a;
    u64 r = soft_to_int(&j->env, j->f, a, bits, true);
    return j->env.flags & SOFT_INVALID ? ~(u64)0 << (bits - 1) : r;
}

/* SDM 2B, ROUNDPD: bit 2 takes the mode from mxcsr; bit 3 hides the inexact exception. Denormals raise nothing. */
static u64 round_to_integral(Job *j, u64 a, u32 imm) {
    static const u8 modes[] = {SOFT_NEAREST_EVEN, SOFT_DOWN, SOFT_UP, SOFT_TO_ZERO};
    u64 r;
    if (propagates(j, a, a, &r))
        return r;
    if (is_denormal(j->f, a) && j->mxcsr & DAZ)
        a &= sign_bit(j->f);
    if (!(imm & 4))
        j->env.rounding = modes[imm & 3];
    return soft_round(&j->env, j->f, a, !(imm & 8));
}

static u64 resized_nan(const SoftFormat *from, const SoftFormat *to, u64 a) {
    u64 fraction = a & (((u64)1 << from->fraction_bits) - 1);
    int up = to->fraction_bits - from->fraction_bits;
    fraction = up >= 0 ? fraction << up : fraction >> -up;
    return (a & sign_bit(from) ? sign_bit(to) : 0) | infinity(to) | quiet_bit(to) | fraction;
}

static u64 resize(Job *j, u64 a) {
    const SoftFormat *from = j->f, *to = from == &soft_f64 ? &soft_f32 : &soft_f64;
    if (is_nan(from, a)) {
        j->raised |= is_signaling(from, a) ? IE : 0;
        return resized_nan(from, to, a);
    }
    a = taken(j, a);
    u64 r = soft_convert(&j->env, from, to, a);
    j->f = to;
    return rounded(j, r);
}

/* ------------------------------------------------------------------------------------------------------------------ public */

static u64 operate(Job *j, u64 a, u64 b, u32 what) {
    u32 imm = what >> 8 & 0xff, bits = what & FLOAT_LONG ? 64 : 32;
    FloatOp op = (FloatOp)(what & 0xff);
    switch (op) {
    case FLOAT_ADD:
    case FLOAT_SUB:
    case FLOAT_MUL:
    case FLOAT_DIV:
        return arithmetic(j, op, a, b);
    case FLOAT_MIN:
        return extreme(j, a, b, LESS);
    case FLOAT_MAX:
        return extreme(j, a, b, GREATER);
    case FLOAT_COMPARE:
        return compare_mask(j, a, b, imm & 7);
    case FLOAT_COMI:
        return compare_flags(j, a, b, true);
    case FLOAT_UCOMI:
        return compare_flags(j, a, b, false);
    case FLOAT_SQRT:
        return square_root(j, a);
    case FLOAT_ROUND:
        return round_to_integral(j, a, imm);
    case FLOAT_TO_INT:
        return to_int(j, a, bits);
    case FLOAT_TO_INT_TRUNCATED:
        j->env.rounding = SOFT_TO_ZERO;
        return to_int(j, a, bits);
    case FLOAT_FROM_INT:
        return soft_from_int(&j->env, j->f, a, true);
    case FLOAT_RESIZE:
        return resize(j, a);
    }
    return 0;
}

static u32 raised_of(const Job *j) {
    u32 f = j->env.flags;
    return j->raised | (f & SOFT_INVALID ? IE : 0) | (f & SOFT_DIVIDE ? ZE : 0) | (f & SOFT_OVERFLOW ? OE : 0) |
           (f & SOFT_UNDERFLOW ? UE : 0) | (f & SOFT_INEXACT ? PE : 0);
}

/* An exception that is not masked is a signal, as on the CPU. */
u64 lathe_x86_float(LatheX86Cpu *cpu, u64 a, u64 b, u32 what) {
    static const u8 modes[] = {SOFT_NEAREST_EVEN, SOFT_DOWN, SOFT_UP, SOFT_TO_ZERO};
    Job j = {.f = what & FLOAT_DOUBLE ? &soft_f64 : &soft_f32, .mxcsr = cpu->mxcsr};
    j.env.rounding = modes[cpu->mxcsr >> ROUNDING_SHIFT & 3];
    u64 r = operate(&j, a, b, what);
    u32 raised = raised_of(&j);
    cpu->mxcsr |= raised;
    if (raised & ~(cpu->mxcsr >> MASKS_SHIFT) & EXCEPTIONS)
        raise(SIGFPE);
    return r;
}
