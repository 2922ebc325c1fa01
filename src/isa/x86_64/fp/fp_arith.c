/* fp_arith.c: SSE floating-point arithmetic: lane by lane, horizontal, and rounding to integral values. */
#include "isa/x86_64/families_fp.h"
#include "isa/x86_64/fp/fp_exact.h"

/* ----------------------------------------------------------------------------------------------------- lane by lane */

void fp_binop(Lifter *l, const Insn *in, FOp op, Ty t) {
    Val a = operand_as(l, in, 0, t), b = fp_source(l, in, 1, t);
    set_operand(l, in, 0, exact(l) ? exact_binary(l, in, a, b) : ir_fop(l, op, a, b));
}

void fp_sqrt(Lifter *l, const Insn *in, Ty t) {
    Val v = fp_source(l, in, 1, t);
    set_operand(l, in, 0, exact(l) ? exact_unary(l, in, t, v) : ir_fsqrt(l, v));
}

/* SDM 2B, MINSD: the second operand if either is NaN or both are zeros: unless the first compares as wanted. */
void fp_minmax(Lifter *l, const Insn *in, FPred keeps_first, Ty t) {
    Val a = operand_as(l, in, 0, t), b = fp_source(l, in, 1, t);
    if (exact(l)) {
        set_operand(l, in, 0, exact_binary(l, in, a, b));
        return;
    }
    Val keep = ir_fcmp(l, keeps_first, a, b, true);
    set_operand(l, in, 0, ir_select(l, keep, a, b));
}

static Val reciprocal(Lifter *l, Approx op, Val v) {
    return ir_fop(l, FDIV, ir_float(l, ir_ty(v), 1), op == RSQRT ? ir_fsqrt(l, v) : v);
}

/* Vendors approximate differently, so that only the host's own instruction is like the CPU's. */
void fp_approx(Lifter *l, const Insn *in, Approx op, Ty t) {
    Val v = fp_source(l, in, 1, t);
    Val r = x86_form(l, in, &v, 1);
    set_operand(l, in, 0, r ? r : reciprocal(l, op, v));
}

/* ----------------------------------------------------------------------------------------------------- across lanes */

/* The even and the odd lanes of a and b, one after the other. */
static Val every_second(Lifter *l, Val a, Val b, u32 first) {
    int lanes[4];
    u32 n = ty_lanes(ir_ty(a));
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(2 * i + first);
    return ir_shuffle(l, a, b, lanes, n);
}

void fp_horizontal(Lifter *l, const Insn *in, FOp op, Ty t) {
    Val a = operand_as(l, in, 0, t), b = fp_source(l, in, 1, t);
    if (exact(l)) {
        set_operand(l, in, 0, exact_binary(l, in, a, b));
        return;
    }
    Val even = every_second(l, a, b, 0), odd = every_second(l, a, b, 1);
    set_operand(l, in, 0, ir_fop(l, op, even, odd));
}

/* Even lanes are subtracted, odd ones added. */
static Val add_and_subtract(Lifter *l, Val a, Val b) {
    u32 n = ty_lanes(ir_ty(a));
    int lanes[4];
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(i % 2 ? n + i : i);
    return ir_shuffle(l, ir_fop(l, FSUB, a, b), ir_fop(l, FADD, a, b), lanes, n);
}

void fp_addsub(Lifter *l, const Insn *in, Ty t) {
    Val a = operand_as(l, in, 0, t), b = fp_source(l, in, 1, t);
    set_operand(l, in, 0, exact(l) ? exact_binary(l, in, a, b) : add_and_subtract(l, a, b));
}

/* The lanes whose bit is set; zero in the others. */
static Val keep_lanes(Lifter *l, Val v, u32 bits) {
    u32 n = ty_lanes(ir_ty(v));
    int lanes[4];
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(bits >> i & 1 ? i : n + i);
    return ir_shuffle(l, v, ir_zero(l, ir_ty(v)), lanes, n);
}

/* SDM 2A, DPPS: neighbours are added first. */
static Val sum(Lifter *l, Val v) {
    Val low = ir_fop(l, FADD, ir_extract(l, v, 0), ir_extract(l, v, 1));
    if (ty_lanes(ir_ty(v)) == 2)
        return low;
    return ir_fop(l, FADD, low, ir_fop(l, FADD, ir_extract(l, v, 2), ir_extract(l, v, 3)));
}

void fp_dot(Lifter *l, const Insn *in, Ty t) {
    Val a = operand_as(l, in, 0, t), b = fp_source(l, in, 1, t);
    u32 bits = (u32)imm_value(in, 2);
    if (exact(l)) {
        set_operand(l, in, 0, exact_binary(l, in, a, b));
        return;
    }
    Val products = keep_lanes(l, ir_fop(l, FMUL, a, b), bits >> 4);
    Val dot = ir_splat(l, sum(l, products), ty_lanes(t));
    set_operand(l, in, 0, keep_lanes(l, dot, bits));
}

/* --------------------------------------------------------------------------------------------------------- rounding */

/* SDM 2B, ROUNDPD: bit 2 takes the mode from mxcsr; bit 3 hides the inexact exception, which only strict mode shows. */
static Val to_integral(Lifter *l, Val v, u32 mode) {
    static const char *const name[] = {"llvm.roundeven", "llvm.floor", "llvm.ceil", "llvm.trunc"};
    return ir_unary(l, mode & 4 ? "llvm.nearbyint" : name[mode & 3], v);
}

void fp_round(Lifter *l, const Insn *in, Ty t) {
    Val v = fp_source(l, in, 1, t);
    set_operand(l, in, 0, exact(l) ? exact_unary(l, in, t, v) : to_integral(l, v, (u32)imm_value(in, 2)));
}
