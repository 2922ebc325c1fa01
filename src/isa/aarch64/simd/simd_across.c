/* simd_across.c: AdvSIMD results that are made of several lanes. */
#include "isa/aarch64/families_simd.h"
#include "isa/aarch64/simd/simd.h"

void a64_simd_pairs(Lifter *l, const Insn *in, A64Lanes *op) {
    Val a = a64v_read(l, in, 1), b = a64v_read(l, in, 2);
    a64v_set(l, in, 0, op(l, a64v_every_second(l, a, b, 0), a64v_every_second(l, a, b, 1)));
}

/* Each two elements of op1, as one of twice the size. */
void a64_simd_pairs_long(Lifter *l, const Insn *in, bool is_signed, bool accumulates) {
    u32 bits = a64v_bits(in, 1);
    Val v = a64v_read_as(l, in, 1, a64v_ty(in, 0));
    Val high = is_signed ? ir_ashr_by(l, v, bits) : ir_lshr_by(l, v, bits), up = ir_shl_by(l, v, bits);
    Val sum = ir_add(l, high, is_signed ? ir_ashr_by(l, up, bits) : ir_lshr_by(l, up, bits));
    a64v_set(l, in, 0, accumulates ? ir_add(l, a64v_read(l, in, 0), sum) : sum);
}

void a64_simd_pair_scalar(Lifter *l, const Insn *in) {
    Val v = a64v_read(l, in, 1);
    a64v_set(l, in, 0, ir_add(l, ir_extract(l, v, 0), ir_extract(l, v, 1)));
}

void a64_simd_across(Lifter *l, const Insn *in, const char *reduction) {
    a64v_set(l, in, 0, ir_unary(l, reduction, a64v_read(l, in, 1)));
}

void a64_simd_across_long(Lifter *l, const Insn *in, bool is_signed) {
    a64v_set(l, in, 0, ir_unary(l, "llvm.vector.reduce.add", a64v_extend(l, a64v_read(l, in, 1), is_signed)));
}
