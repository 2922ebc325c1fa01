/* simd_across.c: integer SIMD results that are made from several lanes: pairs, sums of differences, masks, tests. */
#include "isa/x86_64/families_simd.h"
#include "isa/x86_64/simd.h"

/* Every second lane of a then b, from lane `first` on. */
static Val every_second(Lifter *l, Val a, Val b, int first) {
    int lanes[16];
    u32 n = ty_lanes(ir_ty(a));
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(2 * i) + first;
    return ir_shuffle(l, a, b, lanes, n);
}

typedef struct Pairs {
    Val even, odd;
} Pairs;

static Pairs read_pairs(Lifter *l, const Insn *in, Ty elem) {
    Ty t = simd_ty(in, elem);
    Val a = simd_read(l, in, 0, t), b = simd_read(l, in, 1, t);
    return (Pairs){every_second(l, a, b, 0), every_second(l, a, b, 1)};
}

void simd_pairs(Lifter *l, const Insn *in, Ty elem, LaneOp *op) {
    Pairs p = read_pairs(l, in, elem);
    set_operand(l, in, 0, op(l, p.even, p.odd));
}

void simd_pairs_by(Lifter *l, const Insn *in, Ty elem, const char *intrinsic) {
    Pairs p = read_pairs(l, in, elem);
    set_operand(l, in, 0, ir_binary(l, intrinsic, p.even, p.odd));
}

void simd_sum_differences(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I8);
    Val args[] = {simd_read(l, in, 0, t), simd_read(l, in, 1, t), imm(l, in, 2, I8)};
    set_operand(l, in, 0, simd_host(l, "llvm.x86.sse41.mpsadbw", args, 3));
}

void simd_min_position(Lifter *l, const Insn *in) {
    Val v = simd_read(l, in, 1, simd_ty(in, I16));
    set_operand(l, in, 0, simd_host(l, "llvm.x86.sse41.phminposuw", &v, 1));
}

void simd_sign_mask(Lifter *l, const Insn *in) {
    Ty t = ty_vector(I8, width(in, 1));
    Val signs = ir_is_negative(l, operand_as(l, in, 1, t));
    set_operand(l, in, 0, ir_zext(l, ir_bitcast(l, signs, ty_int(ty_lanes(t))), I32));
}

static Val no_bits(Lifter *l, Val v) {
    return ir_is_zero(l, ir_bitcast(l, v, I128));
}

void simd_test(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I64);
    Val a = simd_read(l, in, 0, t), b = simd_read(l, in, 1, t);
    set_flag(l, ZF, no_bits(l, ir_and(l, a, b)));
    set_flag(l, CF, no_bits(l, ir_and(l, ir_not(l, a), b)));
}
