/* muldiv.c: multiplication and division. */
#include "isa/x86_64/families_base.h"
#include "isa/x86_64/forms.h"

static Val extend(Lifter *l, Val v, Ty t, bool is_signed) {
    return is_signed ? ir_sext(l, v, t) : ir_zext(l, v, t);
}

/* rdx:rax, or ah:al for bytes. */
static void set_pair(Lifter *l, Val v, u32 w) {
    if (w == 8) {
        set_gp(l, RAX, v);
        return;
    }
    set_gp(l, RAX, ir_trunc(l, v, ty_int(w)));
    set_gp(l, RDX, ir_trunc(l, ir_lshr_by(l, v, w), ty_int(w)));
}

/* CF and OF: the upper half says more than the lower one. */
static void set_overflow(Lifter *l, Val product, u32 w, bool is_signed) {
    Ty wide = ir_ty(product);
    Val low = ir_trunc(l, product, ty_int(w));
    Val over = ir_icmp(l, NE, product, extend(l, low, wide, is_signed));
    set_flag(l, CF, over);
    set_flag(l, OF, over);
}

void multiply(Lifter *l, const Insn *in, bool is_signed) {
    u32 w = width(in, 0);
    Ty wide = ty_int(2 * w);
    Val a = extend(l, gp(l, RAX, w), wide, is_signed), b = extend(l, operand(l, in, 0), wide, is_signed);
    Val r = ir_mul(l, a, b);
    set_pair(l, r, w);
    set_overflow(l, r, w, is_signed);
}

static void multiply_into(Lifter *l, const Insn *in, int x, int y) {
    u32 w = width(in, 0);
    Ty wide = ty_int(2 * w);
    Val a = operand(l, in, x), b = operand(l, in, y);
    set_operand(l, in, 0, ir_mul(l, a, b));
    Val r = ir_mul(l, ir_sext(l, a, wide), ir_sext(l, b, wide));
    set_overflow(l, r, w, true);
}

void multiply_signed(Lifter *l, const Insn *in) {
    if (in->operand_count == 1)
        multiply(l, in, true);
    else
        multiply_into(l, in, in->operand_count == 3 ? 1 : 0, in->operand_count - 1);
}

/* mulx high, low, src: rdx times src; if both results are one register, it gets the high half. */
void multiply_no_flags(Lifter *l, const Insn *in) {
    u32 w = width(in, 0);
    Ty wide = ty_int(2 * w);
    Val r = ir_mul(l, ir_zext(l, gp(l, RDX, w), wide), ir_zext(l, operand(l, in, 2), wide));
    set_operand(l, in, 1, ir_trunc(l, r, ty_int(w)));
    set_operand(l, in, 0, ir_trunc(l, ir_lshr_by(l, r, w), ty_int(w)));
}

/* ------------------------------------------------------------------------------------------------------------ division */

/* The dividend is twice as wide as the divisor: rdx:rax, or ax. */
static Val dividend(Lifter *l, u32 w) {
    Ty wide = ty_int(2 * w);
    if (w == 8)
        return gp(l, RAX, 16);
    return ir_or(l, ir_zext(l, gp(l, RAX, w), wide), ir_shl_by(l, ir_zext(l, gp(l, RDX, w), wide), w));
}

static void set_results(Lifter *l, Val quotient, Val remainder, u32 w) {
    if (w == 8) {
        set_gp(l, RAX, quotient);
        set_gp_high(l, RAX, remainder);
    } else {
        set_gp(l, RAX, quotient);
        set_gp(l, RDX, remainder);
    }
}

/* Compilers widen the dividend right before they divide it. */
static bool is_widened(Val low, Val high, bool is_signed) {
    u64 value;
    return is_signed ? ir_is_sign_of(high, low) : ir_is_const(high, &value) && !value;
}

/* A widened dividend divides in the width of the divisor; only the least number by -1 has no quotient then. */
static void divide_widened(Lifter *l, const Insn *in, Val a, Val b, bool is_signed) {
    Ty t = ir_ty(a);
    Val bad = ir_is_zero(l, b);
    if (is_signed) {
        Val least = ir_icmp(l, EQ, a, ir_int(l, t, (u64)1 << (ty_bits(t) - 1)));
        bad = ir_or(l, bad, ir_and(l, least, ir_icmp(l, EQ, b, ir_ones(l, t))));
    }
    trap_if(l, in, bad, LATHE_TRAP_DIVIDE);
    Val q = is_signed ? ir_sdiv(l, a, b) : ir_udiv(l, a, b);
    set_results(l, q, is_signed ? ir_srem(l, a, b) : ir_urem(l, a, b), ty_bits(t));
}

/* 8, 16 and 32 bits: divide in twice the width and see whether the quotient fits. */
static void divide_narrow(Lifter *l, const Insn *in, bool is_signed) {
    u32 w = width(in, 0);
    Ty t = ty_int(w), wide = ty_int(2 * w);
    Val a = dividend(l, w), divisor = operand(l, in, 0);
    trap_if(l, in, ir_is_zero(l, divisor), LATHE_TRAP_DIVIDE);
    Val b = extend(l, divisor, wide, is_signed);
    if (is_signed) { /* the one quotient that overflows the wide division, too */
        Val least = ir_shl_by(l, ir_int(l, wide, 1), 2 * w - 1);
        Val worst = ir_and(l, ir_icmp(l, EQ, a, least), ir_icmp(l, EQ, b, ir_ones(l, wide)));
        trap_if(l, in, worst, LATHE_TRAP_DIVIDE);
    }
    Val q = is_signed ? ir_sdiv(l, a, b) : ir_udiv(l, a, b);
    Val quotient = ir_trunc(l, q, t);
    trap_if(l, in, ir_icmp(l, NE, q, extend(l, quotient, wide, is_signed)), LATHE_TRAP_DIVIDE);
    Val rem = is_signed ? ir_srem(l, a, b) : ir_urem(l, a, b);
    set_results(l, quotient, ir_trunc(l, rem, t), w);
}

/* What one of two ways to divide leaves, and the block it ends in. */
typedef struct Outcome {
    Val quotient, remainder, fails;
    Label end;
} Outcome;

static Outcome divide_64(Lifter *l, Val a, Val b, bool is_signed) {
    Val q = is_signed ? ir_sdiv(l, a, b) : ir_udiv(l, a, b);
    Val r = is_signed ? ir_srem(l, a, b) : ir_urem(l, a, b);
    return (Outcome){q, r, ir_int(l, I1, 0), ir_where(l)};
}

/* The CPU's own instruction. A quotient that does not fit is its trap then; where nobody wants the results, the comparison is left. */
static Outcome divide_natively(Lifter *l, Val low, Val high, Val b) {
    Val results[2];
    x86_forms(l)->divide(l, low, high, b, results);
    return (Outcome){results[0], results[1], ir_icmp(l, UGE, high, b), ir_where(l)};
}

/* A C function, which leaves quotient and remainder in the state's scratch fields and says whether the quotient fits. */
static Outcome divide_128(Lifter *l, Val low, Val high, Val b, bool is_signed) {
    if (tuning_of(l->cfg)->native_traps && !is_signed && x86_forms(l))
        return divide_natively(l, low, high, b);
    Val out = ir_state(l, offsetof(LatheX86Cpu, scratch));
    Val args[] = {out, low, high, b};
    Val fits = ir_helper(l, is_signed ? "lathe_x86_idiv128" : "lathe_x86_div128", I32, args, 4);
    Val q = ir_load(l, I64, out, 8, SPACE_STATE), r = ir_load(l, I64, ir_offset(l, out, 8), 8, SPACE_STATE);
    return (Outcome){q, r, ir_is_zero(l, fits), ir_where(l)};
}

static Val either(Lifter *l, Val a, Label from_a, Val b, Label from_b) {
    Val v = ir_phi(l, ir_ty(a));
    ir_phi_add(v, a, from_a);
    ir_phi_add(v, b, from_b);
    return v;
}

/* Is the 64-bit division exact? INT64_MIN / -1 has no quotient there. */
static Val is_simple(Lifter *l, Val low, Val high, Val b, bool is_signed) {
    Val simple = ir_icmp(l, EQ, high, is_signed ? ir_ashr_by(l, low, 63) : ir_zero(l, I64));
    if (!is_signed)
        return simple;
    Val least = ir_icmp(l, EQ, low, ir_int(l, I64, (u64)1 << 63));
    return ir_and(l, simple, ir_not(l, ir_and(l, least, ir_icmp(l, EQ, b, ir_ones(l, I64)))));
}

/* 64 bits: compilers put the sign or zero of rax into rdx, and then a 64-bit division is exact; only otherwise is the
 * 128-bit one needed. */
static void divide_wide(Lifter *l, const Insn *in, bool is_signed) {
    Val low = gp(l, RAX, 64), high = gp(l, RDX, 64), b = operand(l, in, 0);
    trap_if(l, in, ir_is_zero(l, b), LATHE_TRAP_DIVIDE);
    Label quick = ir_label(l, "div64"), slow = ir_label(l, "div128"), done = ir_label(l, "");
    Val simple = is_simple(l, low, high, b, is_signed);
    if (tuning_of(l->cfg)->native_traps)
        ir_branch(l, simple, quick, slow);
    else
        ir_branch_rare(l, ir_not(l, simple), slow, quick);
    ir_here(l, quick);
    Outcome x = divide_64(l, low, b, is_signed);
    ir_goto(l, done);
    ir_here(l, slow);
    Outcome y = divide_128(l, low, high, b, is_signed);
    ir_goto(l, done);
    ir_here(l, done);
    Val quotient = either(l, x.quotient, x.end, y.quotient, y.end);
    Val remainder = either(l, x.remainder, x.end, y.remainder, y.end);
    trap_if(l, in, either(l, x.fails, x.end, y.fails, y.end), LATHE_TRAP_DIVIDE);
    set_results(l, quotient, remainder, 64);
}

void divide(Lifter *l, const Insn *in, bool is_signed) {
    u32 w = width(in, 0);
    if (w > 8 && is_widened(gp(l, RAX, w), gp(l, RDX, w), is_signed))
        divide_widened(l, in, gp(l, RAX, w), operand(l, in, 0), is_signed);
    else if (w == 64)
        divide_wide(l, in, is_signed);
    else
        divide_narrow(l, in, is_signed);
}
