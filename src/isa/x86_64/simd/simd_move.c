/* simd_move.c: moves of MMX registers and of all or the low bits of vector registers. Non-temporal ones are plain. */
#include "isa/x86_64/families_simd.h"
#include "isa/x86_64/simd/simd.h"

static Reg vector_reg(const Insn *in, int i) {
    return (Reg)(XMM0 + in->op[i].no);
}

void simd_move(Lifter *l, const Insn *in) {
    if (is_reg(in, 0) && is_reg(in, 1))
        reg_copy(l, vector_reg(in, 0), vector_reg(in, 1));
    else
        set_operand(l, in, 0, operand_as(l, in, 1, simd_at_hand(l, in, 1)));
}

void simd_move_aligned(Lifter *l, const Insn *in) {
    if (is_reg(in, 0) && is_reg(in, 1))
        reg_copy(l, vector_reg(in, 0), vector_reg(in, 1));
    else
        set_operand_aligned(l, in, 0, operand_aligned(l, in, 1, simd_at_hand(l, in, 1)));
}

/* Floating-point code uses movq, too: then the 64 bits are one double or two floats. */
static Ty low_ty(Lifter *l, const Insn *in) {
    u32 bits = width(in, 1);
    if (!is_cls(in, 1, CLS_VEC) || is_cls(in, 0, CLS_GP) || bits != 64)
        return ty_int(bits);
    Ty elem = reg_has(l, vector_reg(in, 1), F64) ? F64 : ty_elem(simd_at_hand(l, in, 1));
    return elem == F32 ? VECTOR(F32, 2) : elem == F64 ? F64 : I64;
}

void simd_move_low(Lifter *l, const Insn *in) {
    Val v = operand_as(l, in, 1, low_ty(l, in));
    if (is_cls(in, 0, CLS_MMX) && ir_ty(v) == I32)
        v = ir_zext(l, v, I64);
    set_operand_zext(l, in, 0, v);
}

/* The bytes whose mask byte has its top bit set go to memory at [rdi]. */
void simd_move_masked(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I8);
    Val v = operand_as(l, in, 0, t), mask = ir_is_negative(l, operand_as(l, in, 1, t));
    Val to = segmented(l, ir_zext(l, gp(l, RDI, in->address_bits), I64), in->segment);
    guest_access(l, in, to, ty_lanes(t), STORES);
    ir_store_lanes(l, v, mask, to, SPACE_GUEST);
}
