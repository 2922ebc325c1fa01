/* float.c: what float.h declares, and arithmetic. */
#include "isa/riscv64/float/float.h"

#include "isa/riscv64/families.h"

/* ------------------------------------------------------------------------------------------------------------------ values */

Val rv_default_nan(Lifter *l, Ty t) {
    return ir_bitcast(l, ir_int(l, ty_as_int(t), t == F32 ? 0x7fc00000 : (u64)0x7ff8 << 48), t);
}

Val rv_canonical(Lifter *l, Val v) {
    return ir_canonical(l, v, rv_default_nan(l, ir_ty(v)), NULL);
}

Val rv_soft(Lifter *l, u32 what, Val a, Val b, Val c) {
    Val none = ir_int(l, I64, 0);
    Val args[] = {l->cpu, a, b ? b : none, c ? c : none, ir_int(l, I32, what)};
    return ir_helper(l, RV_SOFT_FLOAT, I64, args, 5);
}

/* ---------------------------------------------------------------------------------------------------------------- rounding */

static Val is_frm(Lifter *l, u32 mode) {
    return ir_icmp(l, EQ, rv_frm(l), ir_int(l, I8, mode));
}

void rv_check_frm(Lifter *l, const Insn *in) {
    if (rv_rounding(in) == RV_DYN && l->cfg->strict_fp)
        trap_if(l, in, ir_icmp(l, UGT, rv_frm(l), ir_int(l, I8, RV_RMM)), LATHE_TRAP_UNDEFINED);
}

/* Does the host round as wanted? NULL: it does, for all that is known. Without strict_fp, a mode that the host lacks cannot be
 * set. With it, all others, and those that are none, are above the host's. */
static Val host_rounds(Lifter *l, u32 mode) {
    if (mode != RV_DYN)
        return is_frm(l, mode);
    return l->cfg->strict_fp ? ir_icmp(l, ULT, rv_frm(l), ir_int(l, I8, RV_RMM)) : NULL;
}

static Val either(Lifter *l, Val a, Label from_a, Val b, Label from_b) {
    Val v = ir_phi(l, ir_ty(a));
    ir_phi_add(v, a, from_a);
    ir_phi_add(v, b, from_b);
    return v;
}

/* By the host if it can. */
static Val choose(Lifter *l, const Insn *in, Val can, RvMake *host, RvMake *soft, const void *arg) {
    Label by_host = ir_label(l, ""), by_soft = ir_label(l, "soft"), done = ir_label(l, "");
    ir_branch_rare(l, ir_not(l, can), by_soft, by_host);
    ir_here(l, by_host);
    Val a = host(l, in, arg);
    Label from_a = ir_where(l);
    ir_goto(l, done);
    ir_here(l, by_soft);
    rv_check_frm(l, in);
    Val b = soft(l, in, arg);
    Label from_b = ir_where(l);
    ir_goto(l, done);
    ir_here(l, done);
    return either(l, a, from_a, b, from_b);
}

Val rv_rounded(Lifter *l, const Insn *in, RvMake *host, RvMake *soft, const void *arg) {
    u32 mode = rv_rounding(in);
    if (mode == RV_RMM || rv_is_soft(l)) {
        rv_check_frm(l, in);
        return soft(l, in, arg);
    }
    Val can = host_rounds(l, mode);
    return can ? choose(l, in, can, host, soft, arg) : host(l, in, arg);
}

Val rv_rounded_unless(Lifter *l, const Insn *in, RvMake *exact, RvMake *host, RvMake *soft, const void *arg) {
    u32 mode = rv_rounding(in);
    if (mode == RV_DYN || mode == RV_RNE || rv_is_soft(l))
        return rv_rounded(l, in, host, soft, arg);
    Val can = exact(l, in, arg);
    return choose(l, in, mode == RV_RMM ? can : ir_or(l, can, is_frm(l, mode)), host, soft, arg);
}

/* -------------------------------------------------------------------------------------------------------------- arithmetic */

typedef struct Arith {
    RvSoftOp op;
    Ty t;
    Val v[3];
} Arith;

static Val soft_arith(Lifter *l, const Insn *in, const void *arg) {
    const Arith *a = arg;
    Val bits[3];
    for (int i = 0; i < 3; i++)
        bits[i] = a->v[i] ? ir_float_bits(l, a->v[i]) : NULL;
    u32 what = RV_SOFT(a->op, rv_soft_format(a->t), rv_rounding(in));
    return ir_float_of_bits(l, rv_soft(l, what, bits[0], bits[1], bits[2]), a->t);
}

static Val fused(Lifter *l, const Arith *a) {
    bool minus_product = a->op == RV_FNMSUB || a->op == RV_FNMADD,
         minus_addend = a->op == RV_FMSUB || a->op == RV_FNMADD;
    Val x = minus_product ? ir_fneg(l, a->v[0]) : a->v[0];
    return ir_fma(l, x, a->v[1], minus_addend ? ir_fneg(l, a->v[2]) : a->v[2]);
}

static Val operate(Lifter *l, const Arith *a) {
    switch (a->op) {
    case RV_FADD:
        return ir_fop(l, FADD, a->v[0], a->v[1]);
    case RV_FSUB:
        return ir_fop(l, FSUB, a->v[0], a->v[1]);
    case RV_FMUL:
        return ir_fop(l, FMUL, a->v[0], a->v[1]);
    case RV_FDIV:
        return ir_fop(l, FDIV, a->v[0], a->v[1]);
    case RV_FSQRT:
        return ir_fsqrt(l, a->v[0]);
    case RV_FNARROW:
        return ir_ftrunc(l, a->v[0], a->t);
    default:
        return fused(l, a);
    }
}

static bool is_fused(RvSoftOp op) {
    return op >= RV_FMADD && op <= RV_FNMADD;
}

/* The manual, 13.6: infinity times zero is invalid even if a quiet NaN is added; to the x86 it is not (SDM 1, 14.5.3). */
static Val result_for_nan(Lifter *l, const Insn *in, const Arith *a) {
    return is_fused(a->op) ? soft_arith(l, in, a) : rv_default_nan(l, a->t);
}

/* With exact flags no operation is moved or left out, and each result is looked at by itself: what is rare is out of the way. */
static Val host_exact(Lifter *l, const Insn *in, const Arith *a) {
    Val r = operate(l, a);
    Label number = ir_where(l), none = ir_label(l, "nan"), done = ir_label(l, "");
    ir_branch_rare(l, ir_result_is_nan(l, r), none, done);
    ir_here(l, none);
    Val exact = result_for_nan(l, in, a);
    Label from_none = ir_where(l);
    ir_goto(l, done);
    ir_here(l, done);
    return either(l, r, number, exact, from_none);
}

static Val host_arith(Lifter *l, const Insn *in, const void *arg) {
    const Arith *a = arg;
    return l->strict_fp ? host_exact(l, in, a) : rv_canonical(l, operate(l, a));
}

static u32 operand_count(RvSoftOp op) {
    return is_fused(op) ? 3 : op == RV_FSQRT || op == RV_FNARROW ? 1 : 2;
}

void rv_float_arith(Lifter *l, const Insn *in, RvSoftOp op, Ty t) {
    Arith a = {.op = op, .t = t};
    for (u32 i = 0; i < operand_count(op); i++)
        a.v[i] = rv_float(l, in, (int)i + 1, op == RV_FNARROW ? F64 : t);
    rv_set_float(l, in, 0, rv_rounded(l, in, host_arith, soft_arith, &a));
}
