/* flags.c: x86-64 status flags, made on demand.
 *
 * An arithmetic instruction leaves one FlagOp (operation, original operands, result) behind all flags it sets. A flag that is
 * read is computed from it; a condition whose flags all come from one compare or test is a single icmp, which is what the
 * compiler that wrote the guest code meant.
 */
#include "isa/x86_64/x86_64.h"

typedef enum FlagKind { FLAGS_ADD, FLAGS_SUB, FLAGS_ADC, FLAGS_SBB, FLAGS_LOGIC, FLAGS_FCMP } FlagKind;

typedef struct FlagOp {
    FlagKind kind;
    Val a, b, r;
    Val carry; /* ADC, SBB */
} FlagOp;

/* ------------------------------------------------------------------------------------------------------ single flags */

static Val carry(Lifter *l, const FlagOp *f) {
    switch (f->kind) {
    case FLAGS_ADD:
        return ir_icmp(l, ULT, f->r, f->a);
    case FLAGS_SUB:
        return ir_icmp(l, ULT, f->a, f->b);
    case FLAGS_ADC:
    case FLAGS_SBB:
        return f->carry;
    case FLAGS_LOGIC:
        return ir_int(l, I1, 0);
    case FLAGS_FCMP:
        return ir_fcmp(l, FULT, f->a, f->b, false);
    }
    CHECK(false, "a flag operation of unknown kind");
}

static Val overflow(Lifter *l, const FlagOp *f) {
    switch (f->kind) {
    case FLAGS_ADD:
    case FLAGS_ADC:
        return ir_add_overflows(l, f->a, f->b, f->r);
    case FLAGS_SUB:
    case FLAGS_SBB:
        return ir_sub_overflows(l, f->a, f->b, f->r);
    case FLAGS_LOGIC:
    case FLAGS_FCMP:
        return ir_int(l, I1, 0);
    }
    CHECK(false, "a flag operation of unknown kind");
}

static Val adjust(Lifter *l, const FlagOp *f) {
    if (f->kind == FLAGS_LOGIC || f->kind == FLAGS_FCMP)
        return ir_int(l, I1, 0);
    Val x = ir_xor(l, ir_xor(l, f->a, f->b), f->r);
    return ir_trunc(l, ir_lshr_by(l, x, 4), I1);
}

static Val parity(Lifter *l, const FlagOp *f) {
    if (f->kind == FLAGS_FCMP)
        return ir_fcmp(l, UNO, f->a, f->b, false);
    Val ones = ir_unary(l, "llvm.ctpop", ir_trunc(l, f->r, I8));
    return ir_not(l, ir_trunc(l, ones, I1));
}

static Val zero(Lifter *l, const FlagOp *f) {
    if (f->kind == FLAGS_FCMP)
        return ir_fcmp(l, UEQ, f->a, f->b, false);
    return f->kind == FLAGS_SUB ? ir_icmp(l, EQ, f->a, f->b) : ir_is_zero(l, f->r);
}

static Val sign(Lifter *l, const FlagOp *f) {
    return f->kind == FLAGS_FCMP ? ir_int(l, I1, 0) : ir_is_negative(l, f->r);
}

static Val make_flag(Lifter *l, const void *arg, Reg r) {
    switch (r) {
    case CF:
        return carry(l, arg);
    case PF:
        return parity(l, arg);
    case AF:
        return adjust(l, arg);
    case ZF:
        return zero(l, arg);
    case SF:
        return sign(l, arg);
    case OF:
        return overflow(l, arg);
    }
    CHECK(false, "a register that is no status flag");
}

/* ------------------------------------------------------------------------------------------------------ setting flags */

static void defer(Lifter *l, FlagOp op, u32 which) {
    FlagOp *kept = ARENA_NEW(l->arena, FlagOp);
    *kept = op;
    for (Reg f = CF; f <= OF; f++)
        if (which >> (f - CF) & 1)
            reg_defer(l, f, make_flag, kept);
}

void flags_add(Lifter *l, Val a, Val b, Val r, u32 which) {
    defer(l, (FlagOp){FLAGS_ADD, a, b, r, NULL}, which);
}

void flags_sub(Lifter *l, Val a, Val b, Val r, u32 which) {
    defer(l, (FlagOp){FLAGS_SUB, a, b, r, NULL}, which);
}

void flags_adc(Lifter *l, Val a, Val b, Val r, Val carry) {
    defer(l, (FlagOp){FLAGS_ADC, a, b, r, carry}, SET_ALL);
}

void flags_sbb(Lifter *l, Val a, Val b, Val r, Val carry) {
    defer(l, (FlagOp){FLAGS_SBB, a, b, r, carry}, SET_ALL);
}

void flags_logic(Lifter *l, Val r, u32 which) {
    defer(l, (FlagOp){FLAGS_LOGIC, NULL, NULL, r, NULL}, which);
}

void flags_fcmp(Lifter *l, Val a, Val b) {
    defer(l, (FlagOp){FLAGS_FCMP, a, b, NULL, NULL}, SET_ALL);
}

void set_flag_const(Lifter *l, Reg f, bool v) {
    set_flag(l, f, ir_int(l, I1, v));
}

Val flag_int(Lifter *l, Reg f, Ty t) {
    return ir_zext(l, flag(l, f), t);
}

/* ---------------------------------------------------------------------------------------------------------- conditions */

/* Which flags a condition (without its negation) reads. */
static const u8 cond_flags[] = {
    [COND_O / 2] = SET_OF,          [COND_B / 2] = SET_CF,
    [COND_E / 2] = SET_ZF,          [COND_BE / 2] = SET_CF | SET_ZF,
    [COND_S / 2] = SET_SF,          [COND_P / 2] = SET_PF,
    [COND_L / 2] = SET_SF | SET_OF, [COND_LE / 2] = SET_SF | SET_OF | SET_ZF,
};

static Val after_sub(Lifter *l, const FlagOp *f, Cond c) {
    static const u8 pred[] = {[COND_B] = ULT, [COND_AE] = UGE, [COND_E] = EQ,   [COND_NE] = NE,  [COND_BE] = ULE,
                              [COND_A] = UGT, [COND_L] = SLT,  [COND_GE] = SGE, [COND_LE] = SLE, [COND_G] = SGT};
    return c < sizeof(pred) && pred[c] ? ir_icmp(l, (Pred)pred[c], f->a, f->b) : NULL;
}

static Val after_logic(Lifter *l, const FlagOp *f, Cond c) {
    static const u8 pred[] = {[COND_E] = EQ,   [COND_NE] = NE, [COND_BE] = EQ,  [COND_A] = NE,   [COND_S] = SLT,
                              [COND_NS] = SGE, [COND_L] = SLT, [COND_GE] = SGE, [COND_LE] = SLE, [COND_G] = SGT};
    return c < sizeof(pred) && pred[c] ? ir_icmp(l, (Pred)pred[c], f->r, ir_zero(l, ir_ty(f->r))) : NULL;
}

static Val after_fcmp(Lifter *l, const FlagOp *f, Cond c) {
    static const u8 pred[] = {[COND_B] = FULT,  [COND_AE] = OGE, [COND_E] = UEQ, [COND_NE] = ONE,
                              [COND_BE] = FULE, [COND_A] = OGT,  [COND_P] = UNO, [COND_NP] = ORD};
    return c < sizeof(pred) && pred[c] ? ir_fcmp(l, (FPred)pred[c], f->a, f->b, false) : NULL;
}

static Val from_one_op(Lifter *l, Cond c) {
    const FlagOp *f = reg_common_deferred(l, CF, cond_flags[c / 2], make_flag);
    if (!f)
        return NULL;
    switch (f->kind) {
    case FLAGS_SUB:
        return after_sub(l, f, c);
    case FLAGS_LOGIC:
        return after_logic(l, f, c);
    case FLAGS_FCMP:
        return after_fcmp(l, f, c);
    case FLAGS_ADD:
    case FLAGS_ADC:
    case FLAGS_SBB:
        return NULL;
    }
    return NULL;
}

static Val from_bits(Lifter *l, Cond c) {
    switch (c & ~1u) {
    case COND_O:
        return flag(l, OF);
    case COND_B:
        return flag(l, CF);
    case COND_E:
        return flag(l, ZF);
    case COND_BE:
        return ir_or(l, flag(l, CF), flag(l, ZF));
    case COND_S:
        return flag(l, SF);
    case COND_P:
        return flag(l, PF);
    case COND_L:
        return ir_xor(l, flag(l, SF), flag(l, OF));
    case COND_LE:
        return ir_or(l, flag(l, ZF), ir_xor(l, flag(l, SF), flag(l, OF)));
    }
    CHECK(false, "a condition beyond the sixteen");
}

Val condition(Lifter *l, Cond c) {
    Val v = from_one_op(l, c);
    if (v)
        return v;
    v = from_bits(l, c);
    return c & 1 ? ir_not(l, v) : v;
}

/* -------------------------------------------------------------------------------------------------------------- rflags */

static const u8 flag_bit[] = {0, 2, 4, 6, 7, 11, 10}; /* CF PF AF ZF SF OF DF */

/* Bit 1 is always set, IF is set in user mode; ID, AC, NT are kept as pushed state only in cpu->id. */
Val rflags(Lifter *l) {
    Val v = ir_int(l, I64, 0x202);
    for (Reg f = CF; f <= DF; f++)
        v = ir_or(l, v, ir_shl_by(l, flag_int(l, f, I64), flag_bit[f - CF]));
    Val id = ir_load(l, I8, ir_state(l, offsetof(LatheX86Cpu, id)), 1, SPACE_STATE);
    return ir_or(l, v, ir_shl_by(l, ir_zext(l, id, I64), 21));
}

void set_rflags(Lifter *l, Val v, u32 bits) {
    Ty t = ir_ty(v);
    for (Reg f = CF; f <= DF; f++)
        if (flag_bit[f - CF] < bits)
            set_flag(l, f, ir_trunc(l, ir_lshr_by(l, v, flag_bit[f - CF]), I1));
    if (ty_bits(t) < 32)
        return;
    Val id = ir_and_with(l, ir_trunc(l, ir_lshr_by(l, v, 21), I8), 1);
    ir_store(l, id, ir_state(l, offsetof(LatheX86Cpu, id)), 1, SPACE_STATE);
}
