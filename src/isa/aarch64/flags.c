/* flags.c: aarch64 flags, made on demand.
 *
 * An instruction that sets flags leaves one FlagOp (operation, original operands, result) behind all four. A flag that is read is computed
 * from it; a condition whose flags all come from one operation is a single icmp or fcmp, which is what the compiler that wrote the guest
 * code meant. What was compared under a condition chooses between that and a constant.
 */
#include "isa/aarch64/aarch64.h"

typedef enum FlagKind { FLAGS_ADD, FLAGS_SUB, FLAGS_ADC, FLAGS_SBC, FLAGS_LOGIC, FLAGS_FCMP } FlagKind;

typedef struct FlagOp {
    FlagKind kind;
    Val a, b, r;
    Val carry; /* ADC, SBC */
    A64If only;
} FlagOp;

/* ------------------------------------------------------------------------------------------------------ single flags */

static Val carry(Lifter *l, const FlagOp *f) {
    switch (f->kind) {
    case FLAGS_ADD:
        return ir_icmp(l, ULT, f->r, f->a);
    case FLAGS_SUB:
        return ir_icmp(l, UGE, f->a, f->b);
    case FLAGS_ADC:
    case FLAGS_SBC:
        return f->carry;
    case FLAGS_LOGIC:
        return ir_int(l, I1, 0);
    case FLAGS_FCMP:
        return ir_fcmp(l, FUGE, f->a, f->b, false);
    }
    CHECK(false, "a flag operation of unknown kind");
}

static Val overflow(Lifter *l, const FlagOp *f) {
    switch (f->kind) {
    case FLAGS_ADD:
        return ir_signed_overflows(l, ADD, f->a, f->b);
    case FLAGS_ADC:
        return ir_add_overflows(l, f->a, f->b, f->r);
    case FLAGS_SUB:
        return ir_signed_overflows(l, SUB, f->a, f->b);
    case FLAGS_SBC:
        return ir_sub_overflows(l, f->a, f->b, f->r);
    case FLAGS_LOGIC:
        return ir_int(l, I1, 0);
    case FLAGS_FCMP:
        return ir_fcmp(l, UNO, f->a, f->b, false);
    }
    CHECK(false, "a flag operation of unknown kind");
}

static Val zero(Lifter *l, const FlagOp *f) {
    if (f->kind == FLAGS_FCMP)
        return ir_fcmp(l, OEQ, f->a, f->b, false);
    return f->kind == FLAGS_SUB ? ir_icmp(l, EQ, f->a, f->b) : ir_is_zero(l, f->r);
}

static Val negative(Lifter *l, const FlagOp *f) {
    return f->kind == FLAGS_FCMP ? ir_fcmp(l, OLT, f->a, f->b, false) : ir_is_negative(l, f->r);
}

static Val computed_flag(Lifter *l, const FlagOp *f, Reg r) {
    switch (r) {
    case A64_N:
        return negative(l, f);
    case A64_Z:
        return zero(l, f);
    case A64_C:
        return carry(l, f);
    case A64_V:
        return overflow(l, f);
    }
    CHECK(false, "a register that is no flag");
}

static u32 bit_of(Reg r) {
    return 3 - (r - A64_N);
}

static Val make_flag(Lifter *l, const void *arg, Reg r) {
    const FlagOp *f = arg;
    Val v = computed_flag(l, f, r);
    return f->only.cond ? ir_select(l, f->only.cond, v, ir_int(l, I1, f->only.nzcv >> bit_of(r) & 1)) : v;
}

/* ------------------------------------------------------------------------------------------------------ setting flags */

static void defer(Lifter *l, FlagOp op, const A64If *only) {
    FlagOp *kept = ARENA_NEW(l->arena, FlagOp);
    *kept = op;
    if (only)
        kept->only = *only;
    for (Reg f = A64_N; f <= A64_V; f++)
        reg_defer(l, f, make_flag, kept);
}

void a64_flags_add(Lifter *l, Val a, Val b, Val r, const A64If *only) {
    defer(l, (FlagOp){.kind = FLAGS_ADD, .a = a, .b = b, .r = r}, only);
}

void a64_flags_sub(Lifter *l, Val a, Val b, Val r, const A64If *only) {
    defer(l, (FlagOp){.kind = FLAGS_SUB, .a = a, .b = b, .r = r}, only);
}

void a64_flags_carry(Lifter *l, Val a, Val b, Val r, Val carry, bool subtracts) {
    defer(l, (FlagOp){.kind = subtracts ? FLAGS_SBC : FLAGS_ADC, .a = a, .b = b, .r = r, .carry = carry}, NULL);
}

void a64_flags_logic(Lifter *l, Val r) {
    defer(l, (FlagOp){.kind = FLAGS_LOGIC, .r = r}, NULL);
}

void a64_flags_fcmp(Lifter *l, Val a, Val b, const A64If *only) {
    defer(l, (FlagOp){.kind = FLAGS_FCMP, .a = a, .b = b}, only);
}

void a64_flags_bits(Lifter *l, Val nzcv) {
    for (Reg f = A64_N; f <= A64_V; f++)
        a64_set_flag(l, f, ir_trunc(l, ir_lshr_by(l, nzcv, bit_of(f)), I1));
}

Val a64_nzcv(Lifter *l) {
    Val v = ir_int(l, I32, 0);
    for (Reg f = A64_N; f <= A64_V; f++)
        v = ir_or(l, v, ir_shl_by(l, ir_zext(l, a64_flag(l, f), I32), bit_of(f)));
    return v;
}

/* ---------------------------------------------------------------------------------------------------------- conditions */

enum { N = 1, Z = 2, C = 4, V = 8 };

/* Which flags a condition reads, by pairs of a condition and its opposite. */
static const u8 cond_flags[] = {Z, C, N, V, C | Z, N | V, N | Z | V, 0};

static Val after_sub(Lifter *l, const FlagOp *f, A64Cond c) {
    static const u8 pred[A64_AL] = {[A64_EQ] = EQ,  [A64_NE] = NE,  [A64_CS] = UGE, [A64_CC] = ULT, [A64_HI] = UGT,
                                    [A64_LS] = ULE, [A64_GE] = SGE, [A64_LT] = SLT, [A64_GT] = SGT, [A64_LE] = SLE};
    return pred[c] ? ir_icmp(l, (Pred)pred[c], f->a, f->b) : NULL;
}

static Val after_logic(Lifter *l, const FlagOp *f, A64Cond c) {
    static const u8 pred[A64_AL] = {[A64_EQ] = EQ,  [A64_NE] = NE,  [A64_MI] = SLT, [A64_PL] = SGE,
                                    [A64_GE] = SGE, [A64_LT] = SLT, [A64_GT] = SGT, [A64_LE] = SLE};
    return pred[c] ? ir_icmp(l, (Pred)pred[c], f->r, ir_zero(l, ir_ty(f->r))) : NULL;
}

static Val after_fcmp(Lifter *l, const FlagOp *f, A64Cond c) {
    static const u8 pred[A64_AL] = {[A64_EQ] = OEQ,  [A64_NE] = UNE,  [A64_CS] = FUGE, [A64_CC] = OLT,  [A64_MI] = OLT,
                                    [A64_PL] = FUGE, [A64_VS] = UNO,  [A64_VC] = ORD,  [A64_HI] = FUGT, [A64_LS] = OLE,
                                    [A64_GE] = OGE,  [A64_LT] = FULT, [A64_GT] = OGT,  [A64_LE] = FULE};
    return ir_fcmp(l, (FPred)pred[c], f->a, f->b, false);
}

static Val after(Lifter *l, const FlagOp *f, A64Cond c) {
    switch (f->kind) {
    case FLAGS_SUB:
        return after_sub(l, f, c);
    case FLAGS_LOGIC:
        return after_logic(l, f, c);
    case FLAGS_FCMP:
        return after_fcmp(l, f, c);
    case FLAGS_ADD:
    case FLAGS_ADC:
    case FLAGS_SBC:
        return NULL;
    }
    return NULL;
}

static bool holds(u32 nzcv, A64Cond c) {
    bool n = nzcv >> 3 & 1, z = nzcv >> 2 & 1, carried = nzcv >> 1 & 1, v = nzcv & 1, r = true;
    switch (c & ~1u) {
    case A64_EQ:
        r = z;
        break;
    case A64_CS:
        r = carried;
        break;
    case A64_MI:
        r = n;
        break;
    case A64_VS:
        r = v;
        break;
    case A64_HI:
        r = carried && !z;
        break;
    case A64_GE:
        r = n == v;
        break;
    case A64_GT:
        r = n == v && !z;
        break;
    }
    return r != (c & 1);
}

static Val from_one_op(Lifter *l, A64Cond c) {
    const FlagOp *f = reg_common_deferred(l, A64_N, cond_flags[c / 2], make_flag);
    Val v = f ? after(l, f, c) : NULL;
    return v && f->only.cond ? ir_select(l, f->only.cond, v, ir_int(l, I1, holds(f->only.nzcv, c))) : v;
}

static Val from_bits(Lifter *l, A64Cond c) {
    Val z, signs;
    switch (c & ~1u) {
    case A64_EQ:
        return a64_flag(l, A64_Z);
    case A64_CS:
        return a64_flag(l, A64_C);
    case A64_MI:
        return a64_flag(l, A64_N);
    case A64_VS:
        return a64_flag(l, A64_V);
    case A64_HI:
        z = a64_flag(l, A64_Z);
        return ir_and(l, a64_flag(l, A64_C), ir_not(l, z));
    case A64_GE:
        return ir_not(l, ir_xor(l, a64_flag(l, A64_N), a64_flag(l, A64_V)));
    case A64_GT:
        signs = ir_xor(l, a64_flag(l, A64_N), a64_flag(l, A64_V));
        return ir_not(l, ir_or(l, a64_flag(l, A64_Z), signs));
    }
    CHECK(false, "a condition beyond the sixteen");
}

Val a64_condition(Lifter *l, A64Cond c) {
    if (c >= A64_AL)
        return ir_int(l, I1, 1);
    Val v = from_one_op(l, c);
    if (v)
        return v;
    v = from_bits(l, c);
    return c & 1 ? ir_not(l, v) : v;
}
