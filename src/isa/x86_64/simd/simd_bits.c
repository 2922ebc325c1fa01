/* simd_bits.c: integer SIMD logic and shifts. */
#include "isa/x86_64/families_simd.h"
#include "isa/x86_64/forms.h"
#include "isa/x86_64/simd/simd.h"

/* ------------------------------------------------------------------------------------------------------------ logic */

/* Logic has no lanes of its own: it takes the lanes its operands come in. */
static Ty logic_ty(Lifter *l, const Insn *in) {
    if (width(in, 0) < 128)
        return I64;
    Ty first = simd_at_hand(l, in, 0);
    return ty_as_int(first == VECTOR(I64, 2) ? simd_at_hand(l, in, 1) : first);
}

void simd_logic(Lifter *l, const Insn *in, LaneOp *op) {
    Ty t = logic_ty(l, in);
    Val a = simd_read(l, in, 0, t), b = simd_read(l, in, 1, t);
    set_operand(l, in, 0, op(l, a, b));
}

void simd_xor(Lifter *l, const Insn *in) {
    if (simd_same(in))
        set_operand(l, in, 0, ir_zero(l, simd_ty(in, I64)));
    else
        simd_logic(l, in, ir_xor);
}

static Val and_not(Lifter *l, Val a, Val b) {
    return ir_and(l, ir_not(l, a), b);
}

void simd_andn(Lifter *l, const Insn *in) {
    if (simd_same(in))
        set_operand(l, in, 0, ir_zero(l, simd_ty(in, I64)));
    else
        simd_logic(l, in, and_not);
}

/* ----------------------------------------------------------------------------------------------------------- shifts */

/* A count of at least the lane's width gives zeros; of an arithmetic shift, copies of the sign. */
static Val shift_by_imm(Lifter *l, const Insn *in, Val v, LaneOp *op) {
    Ty t = ir_ty(v);
    u32 bits = ty_bits(ty_elem(t));
    u64 count = imm_value(in, 1) & 0xff;
    if (count < bits)
        return op(l, v, ir_int(l, t, count));
    return op == ir_ashr ? ir_ashr_by(l, v, bits - 1) : ir_zero(l, t);
}

/* The same with a count that is known only when it is run. */
static Val shift_by_value(Lifter *l, Val v, Val counts, LaneOp *op) {
    Ty t = ir_ty(v), elem = ty_elem(t);
    u32 bits = ty_bits(elem);
    Val all = ir_bitcast(l, counts, ty_vector(I64, ty_bits(t))),
        count = ty_bits(t) == 64 ? ir_bitcast(l, counts, I64) : ir_extract(l, all, 0);
    Val is_small = ir_icmp(l, ULT, count, ir_int(l, I64, bits)), most = ir_int(l, I64, bits - 1);
    Val shifted = op(l, v, ir_splat(l, ir_trunc(l, ir_select(l, is_small, count, most), elem), ty_lanes(t)));
    return op == ir_ashr ? shifted : ir_select(l, is_small, shifted, ir_zero(l, t));
}

/* All lanes by the count in the low 64 bits of operand 1, which is read (and must be aligned) as a whole. */
void simd_shift(Lifter *l, const Insn *in, Ty elem, LaneOp *op) {
    Ty t = simd_ty(in, elem);
    Val v = operand_as(l, in, 0, t);
    if (is_imm(in, 1)) {
        set_operand(l, in, 0, shift_by_imm(l, in, v, op));
        return;
    }
    Val args[] = {v, simd_read(l, in, 1, t)};
    Val r = x86_form(l, in, args, 2);
    set_operand(l, in, 0, r ? r : shift_by_value(l, args[0], args[1], op));
}

/* The bytes of a, then of b, from byte `first` on. */
static Val bytes_from(Lifter *l, Val a, Val b, u32 first) {
    int lanes[16];
    for (u32 i = 0; i < ARRAY_LEN(lanes); i++)
        lanes[i] = (int)(first + i);
    return ir_shuffle(l, a, b, lanes, ARRAY_LEN(lanes));
}

static u32 byte_count(const Insn *in) {
    u64 count = imm_value(in, 1) & 0xff;
    return count < 16 ? (u32)count : 16;
}

void simd_shift_left_bytes(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I8);
    Val v = operand_as(l, in, 0, t);
    set_operand(l, in, 0, bytes_from(l, ir_zero(l, t), v, 16 - byte_count(in)));
}

void simd_shift_right_bytes(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I8);
    Val v = operand_as(l, in, 0, t);
    set_operand(l, in, 0, bytes_from(l, v, ir_zero(l, t), byte_count(in)));
}
