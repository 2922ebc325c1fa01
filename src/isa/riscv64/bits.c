/* bits.c: the bit-manipulation extensions, and conditional zero. */
#include "isa/riscv64/families.h"

/* ----------------------------------------------------------------------------------------------------------- addresses */

static Val unsigned_word(Lifter *l, const Insn *in, int i) {
    return ir_zext(l, rv_int(l, in, i, I32), I64);
}

/* The sum is a pointer where op2 is at hand as one. */
void rv_add_scaled(Lifter *l, const Insn *in, u32 shift, bool word) {
    Val index = word ? unsigned_word(l, in, 1) : rv_x(l, in, 1);
    Reg base = in->op[2].no;
    if (base != RV_X0 && reg_has(l, base, PTR))
        rv_set(l, in, 0, ir_index(l, reg_read(l, base, PTR), index, 1u << shift));
    else
        rv_set(l, in, 0, ir_add(l, ir_shl_by(l, index, shift), rv_x(l, in, 2)));
}

void rv_shift_unsigned_word(Lifter *l, const Insn *in) {
    rv_set(l, in, 0, ir_shl_by(l, unsigned_word(l, in, 1), (u32)rv_imm(in, 2)));
}

/* ----------------------------------------------------------------------------------------------------------------- bits */

void rv_arith_not(Lifter *l, const Insn *in, Op op) {
    rv_set(l, in, 0, ir_op(l, op, rv_x(l, in, 1), ir_not(l, rv_x(l, in, 2))));
}

/* The leading and trailing zeros of zero are as many as the width. */
void rv_count(Lifter *l, const Insn *in, const char *intrinsic, Ty t) {
    Val args[] = {rv_int(l, in, 1, t), ir_int(l, I1, 0)};
    u32 count = strcmp(intrinsic, "llvm.ctpop") ? 2 : 1;
    rv_set(l, in, 0, ir_intrinsic(l, intrinsic, &t, 1, args, count));
}

void rv_extreme(Lifter *l, const Insn *in, const char *intrinsic) {
    rv_set(l, in, 0, ir_binary(l, intrinsic, rv_x(l, in, 1), rv_x(l, in, 2)));
}

void rv_extend(Lifter *l, const Insn *in, Ty t, bool is_signed) {
    Val v = rv_int(l, in, 1, t);
    rv_set(l, in, 0, is_signed ? ir_sext(l, v, I64) : ir_zext(l, v, I64));
}

void rv_fill_bytes(Lifter *l, const Insn *in) {
    Ty bytes = VECTOR(I8, 8);
    Val v = ir_bitcast(l, rv_x(l, in, 1), bytes);
    Val set = ir_icmp(l, NE, v, ir_zero(l, bytes));
    rv_set(l, in, 0, ir_bitcast(l, ir_sext(l, set, bytes), I64));
}

void rv_reverse_bytes(Lifter *l, const Insn *in) {
    rv_set(l, in, 0, ir_unary(l, "llvm.bswap", rv_x(l, in, 1)));
}

void rv_reverse_bits(Lifter *l, const Insn *in) {
    Ty bytes = VECTOR(I8, 8);
    rv_set(l, in, 0, ir_bitcast(l, ir_unary(l, "llvm.bitreverse", ir_bitcast(l, rv_x(l, in, 1), bytes)), I64));
}

/* The low parts, of type `half`, of two registers as one integer of type `whole`: packw has a sign, packh none. */
void rv_pack(Lifter *l, const Insn *in, Ty half, Ty whole) {
    Val low = ir_zext(l, rv_int(l, in, 1, half), whole), high = ir_zext(l, rv_int(l, in, 2, half), whole);
    Val both = ir_or(l, low, ir_shl_by(l, high, ty_bits(half)));
    rv_set(l, in, 0, whole == I32 ? ir_sext(l, both, I64) : ir_zext(l, both, I64));
}

/* Elements of op1, of so many bits, chosen by those of op2. */
void rv_permute(Lifter *l, const Insn *in, u32 bits) {
    Val args[] = {rv_x(l, in, 1), rv_x(l, in, 2), ir_int(l, I64, bits)};
    rv_set(l, in, 0, ir_helper(l, "lathe_riscv64_xperm", I64, args, 3));
}

void rv_bit(Lifter *l, const Insn *in, RvBitOp op) {
    Val v = rv_x(l, in, 1), n = ir_and_with(l, rv_x(l, in, 2), 63), bit = ir_shl(l, ir_int(l, I64, 1), n), r = NULL;
    switch (op) {
    case RV_BIT_CLEAR:
        r = ir_and(l, v, ir_not(l, bit));
        break;
    case RV_BIT_EXTRACT:
        r = ir_and_with(l, ir_lshr(l, v, n), 1);
        break;
    case RV_BIT_INVERT:
        r = ir_xor(l, v, bit);
        break;
    case RV_BIT_SET:
        r = ir_or(l, v, bit);
        break;
    }
    rv_set(l, in, 0, r);
}

void rv_multiply_carryless(Lifter *l, const Insn *in, u32 from_bit) {
    Val args[] = {rv_x(l, in, 1), rv_x(l, in, 2), ir_int(l, I64, from_bit)};
    rv_set(l, in, 0, ir_helper(l, "lathe_riscv64_clmul", I64, args, 3));
}

void rv_zero_if(Lifter *l, const Insn *in, Pred p) {
    Val zero = ir_int(l, I64, 0);
    rv_set(l, in, 0, ir_select(l, ir_icmp(l, p, rv_x(l, in, 2), zero), zero, rv_x(l, in, 1)));
}
