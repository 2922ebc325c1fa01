/* fp_compare.c: SSE floating-point compares: into masks and into the flags. */
#include "isa/x86_64/families_fp.h"
#include "isa/x86_64/fp/fp_exact.h"

/* ------------------------------------------------------------------------------------------------------- into masks */

static const struct {
    u8 pred;
    bool signaling;
} predicates[8] = {{OEQ, false}, {OLT, true},  {OLE, true},  {UNO, false},
                   {UNE, false}, {FUGE, true}, {FUGT, true}, {ORD, false}};

static Val mask(Lifter *l, Val a, Val b, u32 which) {
    Ty t = ir_ty(a);
    Val holds = ir_fcmp(l, (FPred)predicates[which].pred, a, b, predicates[which].signaling);
    return ir_bitcast(l, ir_sext(l, holds, ty_as_int(t)), t);
}

/* A scalar mask stays in vector registers only if LLVM sees a vector compare. */
static Val scalar_mask(Lifter *l, Val a, Val b, u32 which) {
    if (l->strict_fp)
        return mask(l, a, b, which);
    u32 lanes = 128 / ty_bits(ir_ty(a));
    return ir_extract(l, mask(l, ir_low_lane(l, a, lanes), ir_low_lane(l, b, lanes), which), 0);
}

/* SDM 2A, CMPPD: legacy encodings have eight predicates; the other bits of the immediate are ignored. */
void fp_cmp(Lifter *l, const Insn *in, Ty t) {
    Val a = operand_as(l, in, 0, t), b = fp_source(l, in, 1, t), r;
    u32 which = (u32)imm_value(in, 2) & 7;
    if (exact(l))
        r = exact_binary(l, in, a, b);
    else
        r = ty_is_vector(t) ? mask(l, a, b, which) : scalar_mask(l, a, b, which);
    set_operand(l, in, 0, r);
}

void fp_cmpsd(Lifter *l, const Insn *in) {
    fp_cmp(l, in, SD);
}

/* ------------------------------------------------------------------------------------------------------- into flags */

static void set_compared(Lifter *l, Val zf, Val pf, Val cf) {
    set_flag(l, ZF, zf);
    set_flag(l, PF, pf);
    set_flag(l, CF, cf);
}

static Val bit(Lifter *l, Val v, u32 index) {
    return ir_trunc(l, ir_lshr_by(l, v, index), I1);
}

/* In strict mode the compare happens here and once, whether or not anybody reads the flags. */
static void compare_strictly(Lifter *l, const Insn *in, Val a, Val b, bool signaling) {
    if (exact(l)) {
        Val ah = exact_compare(l, in, a, b);
        set_compared(l, bit(l, ah, 14), bit(l, ah, 10), bit(l, ah, 8));
    } else {
        set_compared(l, ir_fcmp(l, UEQ, a, b, signaling), ir_fcmp(l, UNO, a, b, signaling),
                     ir_fcmp(l, FULT, a, b, signaling));
    }
}

void fp_comi(Lifter *l, const Insn *in, Ty t, bool signaling) {
    Val a = operand_as(l, in, 0, t), b = operand_as(l, in, 1, t);
    if (l->strict_fp)
        compare_strictly(l, in, a, b, signaling);
    else
        flags_fcmp(l, a, b);
}
