/* simd.c: see simd.h. */
#include "isa/aarch64/simd/simd.h"

Ty a64v_of(Ty elem, u32 lanes) {
    return lanes == 1 ? elem : VECTOR(elem, lanes);
}

Ty a64v_resized(Ty t, u32 elem_bits) {
    return a64v_of(ty_int(elem_bits), ty_lanes(t));
}

static u32 elem_bits(Ty t) {
    return ty_bits(t) / ty_lanes(t);
}

/* ------------------------------------------------------------------------------------------------------------ operands */

Val a64v_half(Lifter *l, Val v, bool upper) {
    int lanes[64];
    u32 n = ty_lanes(ir_ty(v)) / 2;
    if (n == 1)
        return ir_extract(l, v, upper);
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(i + (upper ? n : 0));
    return ir_shuffle(l, v, v, lanes, n);
}

Val a64v_join(Lifter *l, Val low, Val high) {
    int lanes[64];
    Ty t = ir_ty(low);
    u32 n = ty_lanes(t);
    if (!ty_is_vector(t))
        return ir_insert(l, ir_low_lane(l, low, 2), high, 1);
    for (u32 i = 0; i < 2 * n; i++)
        lanes[i] = (int)i;
    return ir_shuffle(l, low, high, lanes, 2 * n);
}

static Val one_lane(Lifter *l, const Insn *in, int i) {
    Ty elem = ty_int(a64v_bits(in, i)), t = a64v_ty(in, i);
    Val v = ir_extract(l, a64_v(l, in, i, ty_vector(elem, 128)), (u32)in->op[i].disp);
    return ty_is_vector(t) ? ir_splat(l, v, ty_lanes(t)) : v;
}

Val a64v_read(Lifter *l, const Insn *in, int i) {
    const Operand *op = &in->op[i];
    Ty t = a64v_ty(in, i);
    if (op->seg == A64_ONE_LANE)
        return one_lane(l, in, i);
    if (op->high)
        return a64v_half(l, a64_v(l, in, i, ty_vector(ty_elem(t), 128)), true);
    return a64_v(l, in, i, t);
}

Val a64v_read_as(Lifter *l, const Insn *in, int i, Ty t) {
    const Operand *op = &in->op[i];
    if (op->seg != A64_ONE_LANE && !op->high)
        return a64_v(l, in, i, t);
    return ir_bitcast(l, a64v_read(l, in, i), t);
}

void a64v_set(Lifter *l, const Insn *in, int i, Val v) {
    if (in->op[i].high) {
        Ty t = ir_ty(v);
        Val all = a64_v(l, in, i, ty_vector(ty_elem(t), 128));
        v = a64v_join(l, a64v_half(l, all, false), v);
    }
    a64_set_v(l, in, i, v);
}

/* --------------------------------------------------------------------------------------------------------------- lanes */

Val a64v_extend_to(Lifter *l, Val v, u32 bits, bool is_signed) {
    Ty t = a64v_resized(ir_ty(v), bits);
    return is_signed ? ir_sext(l, v, t) : ir_zext(l, v, t);
}

Val a64v_extend(Lifter *l, Val v, bool is_signed) {
    return a64v_extend_to(l, v, 2 * elem_bits(ir_ty(v)), is_signed);
}

Val a64v_narrow(Lifter *l, Val v) {
    return ir_trunc(l, v, a64v_resized(ir_ty(v), elem_bits(ir_ty(v)) / 2));
}

Val a64v_every_second(Lifter *l, Val a, Val b, int first) {
    int lanes[16];
    u32 n = ty_lanes(ir_ty(a));
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(2 * i) + first;
    return ir_shuffle(l, a, b, lanes, n);
}

Val a64v_mask(Lifter *l, Val cond, Ty t) {
    return ir_sext(l, cond, t);
}

/* ---------------------------------------------------------------------------------------------------------- saturation */

enum { QC = 27 };

void a64v_saturates(Lifter *l, Val a, Val b) {
    Val differences = ir_xor(l, a, b);
    if (ty_is_vector(ir_ty(a)))
        differences = ir_unary(l, "llvm.vector.reduce.or", differences);
    Val differ = ir_not(l, ir_is_zero(l, differences));
    Val at = ir_state(l, offsetof(LatheAarch64Cpu, fpsr));
    Val flag = ir_shl_by(l, ir_zext(l, differ, I32), QC);
    ir_store(l, ir_or(l, ir_load(l, I32, at, 4, SPACE_STATE), flag), at, 4, SPACE_STATE);
}

/* The manual, SignedSatQ and UnsignedSatQ. */
Val a64v_saturate_to(Lifter *l, Val v, u32 bits, bool to_signed) {
    Ty t = ir_ty(v);
    u64 most = to_signed ? ((u64)1 << (bits - 1)) - 1 : bits == 64 ? ~(u64)0 : ((u64)1 << bits) - 1;
    Val high = ir_zext(l, ir_int(l, a64v_resized(t, bits), most), t);
    Val low = to_signed ? ir_not(l, high) : ir_zero(l, t);
    Val limited = ir_binary(l, "llvm.smax", ir_binary(l, "llvm.smin", v, high), low);
    a64v_saturates(l, limited, v);
    return ir_trunc(l, limited, a64v_resized(t, bits));
}

Val a64v_saturate(Lifter *l, Val v, bool to_signed) {
    return a64v_saturate_to(l, v, elem_bits(ir_ty(v)) / 2, to_signed);
}

Val a64v_saturate_unsigned(Lifter *l, Val v) {
    Ty t = ir_ty(v), half = a64v_resized(t, elem_bits(t) / 2);
    Val limited = ir_binary(l, "llvm.umin", v, ir_zext(l, ir_ones(l, half), t));
    a64v_saturates(l, limited, v);
    return ir_trunc(l, limited, half);
}
