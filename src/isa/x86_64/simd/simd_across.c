/* simd_across.c: integer SIMD results that are made from several lanes: pairs, sums of differences, masks, tests. */
#include "isa/x86_64/families_simd.h"
#include "isa/x86_64/forms.h"
#include "isa/x86_64/simd/simd.h"

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

static Val distance(Lifter *l, Val a, Val b) {
    return ir_sub(l, ir_binary(l, "llvm.umax", a, b), ir_binary(l, "llvm.umin", a, b));
}

/* SDM 2B, MPSADBW: four bytes of b, which bits 0 and 1 choose, against each four that follow each other in a, from the byte on
 * that bit 2 chooses. */
static Val plain_sum_differences_at(Lifter *l, Val a, Val b, u32 control) {
    u32 from_a = (control >> 2 & 1) * 4, from_b = (control & 3) * 4;
    Ty words = VECTOR(I16, 8);
    Val sum = ir_zero(l, words);
    for (u32 k = 0; k < 4; k++) {
        int lanes[8];
        for (u32 i = 0; i < 8; i++)
            lanes[i] = (int)(from_a + i + k);
        Val window = ir_zext(l, ir_shuffle(l, a, a, lanes, 8), words);
        Val byte = ir_zext(l, ir_extract(l, b, from_b + k), I16);
        sum = ir_add(l, sum, distance(l, window, ir_splat(l, byte, 8)));
    }
    return sum;
}

void simd_sum_differences(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I8);
    Val args[] = {simd_read(l, in, 0, t), simd_read(l, in, 1, t), imm(l, in, 2, I8)};
    Val r = x86_form(l, in, args, 3);
    set_operand(l, in, 0, r ? r : plain_sum_differences_at(l, args[0], args[1], (u32)imm_value(in, 2)));
}

/* The least word, and in the next one where it was first; zeros above. */
static Val plain_min_position(Lifter *l, Val v) {
    Val least = ir_extract(l, v, 0), at = ir_int(l, I16, 0), r = ir_zero(l, ir_ty(v));
    for (u32 i = 1; i < 8; i++) {
        Val word = ir_extract(l, v, i), less = ir_icmp(l, ULT, word, least);
        least = ir_select(l, less, word, least);
        at = ir_select(l, less, ir_int(l, I16, i), at);
    }
    return ir_insert(l, ir_insert(l, r, least, 0), at, 1);
}

void simd_min_position(Lifter *l, const Insn *in) {
    Val v = simd_read(l, in, 1, simd_ty(in, I16));
    Val r = x86_form(l, in, &v, 1);
    set_operand(l, in, 0, r ? r : plain_min_position(l, v));
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
