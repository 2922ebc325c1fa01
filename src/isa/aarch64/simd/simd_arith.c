/* simd_arith.c: AdvSIMD instructions whose operands and results have elements of one size. */
#include "isa/aarch64/families_simd.h"
#include "isa/aarch64/simd/simd.h"

void a64_simd_1(Lifter *l, const Insn *in, A64Lane *op) {
    a64v_set(l, in, 0, op(l, a64v_read(l, in, 1)));
}

static bool is_copy(const Insn *in, A64Lanes *op) {
    return op == ir_or && in->op[1].no == in->op[2].no && in->op[0].bits == 128;
}

void a64_simd_2(Lifter *l, const Insn *in, A64Lanes *op) {
    if (is_copy(in, op))
        reg_copy(l, (Reg)(A64_V0 + in->op[0].no), (Reg)(A64_V0 + in->op[1].no));
    else
        a64v_set(l, in, 0, op(l, a64v_read(l, in, 1), a64v_read(l, in, 2)));
}

void a64_simd_2_into(Lifter *l, const Insn *in, A64Lanes *op) {
    a64v_set(l, in, 0, op(l, a64v_read(l, in, 1), a64v_read(l, in, 0)));
}

void a64_simd_accumulate(Lifter *l, const Insn *in, Op with, A64Lanes *op) {
    Val v = op(l, a64v_read(l, in, 1), a64v_read(l, in, 2));
    a64v_set(l, in, 0, ir_op(l, with, a64v_read(l, in, 0), v));
}

void a64_simd_compare_zero(Lifter *l, const Insn *in, Pred p) {
    Ty t = a64v_ty(in, 1);
    a64v_set(l, in, 0, a64v_mask(l, ir_icmp(l, p, a64v_read(l, in, 1), ir_zero(l, t)), t));
}

/* bsl: bits of op1 where op0 has ones, else of op2; bit and bif: of op1 into op0 where op2 has ones, or zeros. */
void a64_simd_select(Lifter *l, const Insn *in, int mask) {
    Val d = a64v_read(l, in, 0), n = a64v_read(l, in, 1), m = a64v_read(l, in, 2);
    Val chooses = mask == 0 ? d : mask == 1 ? m : ir_not(l, m), other = mask == 0 ? m : d;
    a64v_set(l, in, 0, ir_xor(l, other, ir_and(l, ir_xor(l, other, n), chooses)));
}

/* sqrdmlah, sqrdmlsh: the sum has two bits more than the product, and is rounded once. */
void a64_simd_multiply_accumulate_high(Lifter *l, const Insn *in, Op with) {
    u32 bits = a64v_bits(in, 0), wide = 4 * bits;
    Val a = a64v_extend_to(l, a64v_read(l, in, 1), wide, true), b = a64v_extend_to(l, a64v_read(l, in, 2), wide, true);
    Val sum = ir_shl_by(l, a64v_extend_to(l, a64v_read(l, in, 0), wide, true), bits);
    sum = ir_op(l, with, sum, ir_shl_by(l, ir_mul(l, a, b), 1));
    sum = ir_ashr_by(l, ir_add_to(l, sum, (i64)1 << (bits - 1)), bits);
    a64v_set(l, in, 0, a64v_saturate_to(l, sum, bits, true));
}
