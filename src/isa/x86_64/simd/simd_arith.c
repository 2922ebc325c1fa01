/* simd_arith.c: integer SIMD arithmetic and compares, each lane for itself.
 *
 * Where LLVM's back end folds it into the one instruction again it is plain IR (widen, multiply, shift and truncate is
 * pmulhw); the rest is left to the host.
 */
#include "isa/x86_64/families_simd.h"
#include "isa/x86_64/forms.h"
#include "isa/x86_64/simd/simd.h"

static Ty wider(Ty t) {
    return VECTOR(ty_int(2 * ty_bits(ty_elem(t))), ty_lanes(t));
}

static Val extend(Lifter *l, Val v, Ty t, Sign sign) {
    return sign == SIGNED ? ir_sext(l, v, t) : ir_zext(l, v, t);
}

void simd_lanes(Lifter *l, const Insn *in, Ty elem, LaneOp *op) {
    Ty t = simd_ty(in, elem);
    Val a = simd_read(l, in, 0, t), b = simd_read(l, in, 1, t);
    set_operand(l, in, 0, op(l, a, b));
}

void simd_lanes_by(Lifter *l, const Insn *in, Ty elem, const char *intrinsic) {
    Ty t = simd_ty(in, elem);
    Val a = simd_read(l, in, 0, t), b = simd_read(l, in, 1, t);
    set_operand(l, in, 0, ir_binary(l, intrinsic, a, b));
}

void simd_subtract(Lifter *l, const Insn *in, Ty elem) {
    if (simd_same(in))
        set_operand(l, in, 0, ir_zero(l, simd_ty(in, elem)));
    else
        simd_lanes(l, in, elem, ir_sub);
}

void simd_compare(Lifter *l, const Insn *in, Ty elem, Pred p) {
    Ty t = simd_ty(in, elem);
    if (simd_same(in)) {
        set_operand(l, in, 0, p == EQ ? ir_ones(l, t) : ir_zero(l, t));
        return;
    }
    Val a = simd_read(l, in, 0, t), b = simd_read(l, in, 1, t);
    set_operand(l, in, 0, ir_sext(l, ir_icmp(l, p, a, b), t));
}

void simd_average(Lifter *l, const Insn *in, Ty elem) {
    Ty t = simd_ty(in, elem), wide = wider(t);
    Val a = ir_zext(l, simd_read(l, in, 0, t), wide), b = ir_zext(l, simd_read(l, in, 1, t), wide);
    Val sum = ir_add_to(l, ir_add(l, a, b), 1);
    set_operand(l, in, 0, ir_trunc(l, ir_lshr_by(l, sum, 1), t));
}

void simd_mul_high(Lifter *l, const Insn *in, Sign sign) {
    Ty t = simd_ty(in, I16), wide = wider(t);
    Val a = extend(l, simd_read(l, in, 0, t), wide, sign), b = extend(l, simd_read(l, in, 1, t), wide, sign);
    set_operand(l, in, 0, ir_trunc(l, ir_lshr_by(l, ir_mul(l, a, b), 16), t));
}

/* The even lane of 32 bits, extended in place. */
static Val even_lane(Lifter *l, Val v, Sign sign) {
    return sign == SIGNED ? ir_ashr_by(l, ir_shl_by(l, v, 32), 32) : ir_and_with(l, v, 0xffffffff);
}

void simd_mul_wide(Lifter *l, const Insn *in, Sign sign) {
    Ty t = simd_ty(in, I64);
    Val a = even_lane(l, simd_read(l, in, 0, t), sign), b = even_lane(l, simd_read(l, in, 1, t), sign);
    set_operand(l, in, 0, ir_mul(l, a, b));
}

void simd_abs(Lifter *l, const Insn *in, Ty elem) {
    Ty t = simd_ty(in, elem);
    Val args[] = {simd_read(l, in, 1, t), ir_int(l, I1, 0)};
    set_operand(l, in, 0, ir_intrinsic(l, "llvm.abs", &t, 1, args, 2));
}

/* --------------------------------------------------------------------------- what plain IR would not become one instruction of */

void simd_by_form(Lifter *l, const Insn *in, Ty elem, LaneOp *plain) {
    Ty t = simd_ty(in, elem);
    Val args[] = {simd_read(l, in, 0, t), simd_read(l, in, 1, t)}, whole[] = {args[0], args[1]};
    Val r = x86_form(l, in, args, 2);
    set_operand(l, in, 0, r ? r : plain(l, whole[0], whole[1]));
}

/* a, its negative, or zero, as b is. */
Val plain_sign(Lifter *l, Val a, Val b) {
    Ty t = ir_ty(a);
    Val signed_a = ir_select(l, ir_is_negative(l, b), ir_neg(l, a), a);
    return ir_select(l, ir_is_zero(l, b), ir_zero(l, t), signed_a);
}

/* SDM 2B, PMULHRSW: the upper halves, of which the highest bit left off is added. */
Val plain_mul_rounded(Lifter *l, Val a, Val b) {
    Ty t = ir_ty(a), wide = wider(t);
    Val product = ir_mul(l, ir_sext(l, a, wide), ir_sext(l, b, wide));
    return ir_trunc(l, ir_lshr_by(l, ir_add_to(l, ir_lshr_by(l, product, 14), 1), 1), t);
}

/* Every second lane, from lane `first` on. */
static Val every_second(Lifter *l, Val v, int first) {
    int lanes[16];
    u32 n = ty_lanes(ir_ty(v)) / 2;
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(2 * i) + first;
    return ir_shuffle(l, v, v, lanes, n);
}

Val plain_mul_add(Lifter *l, Val a, Val b) {
    Ty wide = wider(ir_ty(a));
    Val products = ir_mul(l, ir_sext(l, a, wide), ir_sext(l, b, wide));
    return ir_add(l, every_second(l, products, 0), every_second(l, products, 1));
}

/* Unsigned times signed bytes. */
Val plain_mul_add_bytes(Lifter *l, Val a, Val b) {
    Ty wide = wider(ir_ty(a));
    Val products = ir_mul(l, ir_zext(l, a, wide), ir_sext(l, b, wide));
    return ir_binary(l, "llvm.sadd.sat", every_second(l, products, 0), every_second(l, products, 1));
}

/* The sums of eight bytes each, as 64 bits. */
Val plain_sum_differences(Lifter *l, Val a, Val b) {
    u32 n = ty_lanes(ir_ty(a));
    Val distance = ir_sub(l, ir_binary(l, "llvm.umax", a, b), ir_binary(l, "llvm.umin", a, b)), sums[2];
    for (u32 i = 0; i < n; i++) {
        Val one = ir_zext(l, ir_extract(l, distance, i), I64);
        sums[i / 8] = i % 8 ? ir_add(l, sums[i / 8], one) : one;
    }
    return n == 8 ? sums[0] : ir_insert(l, ir_insert(l, ir_zero(l, VECTOR(I64, 2)), sums[0], 0), sums[1], 1);
}
