/* rules.c: which bits of a result are undefined, if bits of the operands are.
 *
 * A rule may say that a bit is defined though it is not, never the other way round where compilers, or the functions of C libraries, make such code: words and vectors of
 * which only a part is looked at. What has no rule has a defined result. */
#include <stdio.h>

#include "run/server/values/masks.h"

typedef struct Two {
    Val a, b;   /* the operands, as integers */
    Val ma, mb; /* their masks */
} Two;

static Two operands(const Masks *m, Val insn) {
    Val a = LLVMGetOperand(insn, 0), b = LLVMGetOperand(insn, 1);
    return (Two){bits_of(m, a), bits_of(m, b), mask_of(m, a), mask_of(m, b)};
}

static bool has_masks(const Two *t) {
    return t->ma || t->mb;
}

/* ----------------------------------------------------------------------------------------------------------- bit by bit */

static Val not(const Masks *m, Val v) {
    return LLVMBuildNot(m->b, v, "");
}

static Val both(const Masks *m, Val a, Val b) {
    return a && b ? LLVMBuildAnd(m->b, a, b, "") : NULL;
}

/* A zero on one side makes the result known. */
static Val rule_and(const Masks *m, const Two *t) {
    return mask_both(m, both(m, t->ma, t->mb), mask_both(m, both(m, t->ma, t->b), both(m, t->a, t->mb)));
}

static bool is_negative_of(Val v, Val of) {
    return LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMSub &&
           LLVMIsAConstantInt(LLVMGetOperand(v, 0)) && LLVMIsNull(LLVMGetOperand(v, 0)) && LLVMGetOperand(v, 1) == of;
}

/* The bits that may be undefined below the lowest one that is surely set. */
static Val doubt_below(const Masks *m, Val v, Val mask) {
    Val set = value_least(m, v, mask), lowest = LLVMBuildAnd(m->b, set, LLVMBuildNeg(m->b, set, ""), "");
    return LLVMBuildAnd(m->b, mask, LLVMBuildAdd(m->b, lowest, LLVMConstAllOnes(LLVMTypeOf(v)), ""), "");
}

/* x & -x is the lowest bit that is set. */
static Val rule_lowest(const Masks *m, const Two *t) {
    Val x = is_negative_of(t->b, t->a) ? t->a : t->b, mask = x == t->a ? t->ma : t->mb;
    return mask ? mask_lanes(m, doubt_below(m, x, mask), LLVMTypeOf(x)) : NULL;
}

static Val rule_or(const Masks *m, const Two *t) {
    Val not_a = t->mb ? not(m, t->a) : NULL, not_b = t->ma ? not(m, t->b) : NULL;
    return mask_both(m, both(m, t->ma, t->mb), mask_both(m, both(m, t->ma, not_b), both(m, not_a, t->mb)));
}

/* ------------------------------------------------------------------------------------------------------------ arithmetic */

/* The cheaper rule does for what counts, and for lanes. By larger numbers, which may be in registers, words are searched for a byte: carries of undefined bytes stay
 * where they are. */
static bool is_simple(Val v) {
    enum { SMALL = 1 << 16 };
    LLVMTypeRef type = LLVMTypeOf(v);
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind || LLVMGetIntTypeWidth(type) > 64)
        return true;
    i64 value = LLVMIsAConstantInt(v) ? LLVMConstIntGetSExtValue(v) : SMALL;
    return value < SMALL && value > -SMALL;
}

static Val rule_sum(const Masks *m, const Two *t, bool subtracts) {
    if (is_simple(t->a) || is_simple(t->b))
        return mask_left(m, mask_both(m, t->ma, t->mb));
    Val (*build)(LLVMBuilderRef, Val, Val, const char *) = subtracts ? LLVMBuildSub : LLVMBuildAdd;
    Val (*low)(const Masks *, Val, Val) = value_least, (*high)(const Masks *, Val, Val) = value_most;
    Val least = build(m->b, low(m, t->a, t->ma), (subtracts ? high : low)(m, t->b, t->mb), "");
    Val most = build(m->b, high(m, t->a, t->ma), (subtracts ? low : high)(m, t->b, t->mb), "");
    return mask_both(m, mask_both(m, t->ma, t->mb), LLVMBuildXor(m->b, least, most, ""));
}

static Val rule_shift(const Masks *m, Val insn, const Two *t) {
    LLVMOpcode op = LLVMGetInstructionOpcode(insn);
    Val moved = !t->ma           ? NULL
                : op == LLVMShl  ? LLVMBuildShl(m->b, t->ma, t->b, "")
                : op == LLVMLShr ? LLVMBuildLShr(m->b, t->ma, t->b, "")
                                 : LLVMBuildAShr(m->b, t->ma, t->b, "");
    return mask_both(m, moved, mask_lanes(m, t->mb, LLVMTypeOf(t->a)));
}

static Val rule_binary(const Masks *m, Val insn) {
    Two t = operands(m, insn);
    LLVMOpcode op = LLVMGetInstructionOpcode(insn);
    if (!has_masks(&t))
        return NULL;
    switch (op) {
    case LLVMAnd:
        return is_negative_of(t.a, t.b) || is_negative_of(t.b, t.a) ? rule_lowest(m, &t) : rule_and(m, &t);
    case LLVMOr:
        return rule_or(m, &t);
    case LLVMXor:
        return t.a == t.b ? NULL : mask_both(m, t.ma, t.mb);
    case LLVMAdd:
        return rule_sum(m, &t, false);
    case LLVMSub:
        return t.a == t.b ? NULL : rule_sum(m, &t, true);
    case LLVMMul:
        return mask_left(m, mask_both(m, t.ma, t.mb));
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        return rule_shift(m, insn, &t);
    default: /* divisions, floating point */
        return mask_lanes(m, mask_both(m, t.ma, t.mb), mask_type_of(m, insn));
    }
}

/* ----------------------------------------------------------------------------------------------------------- comparisons */

/* Bits that are known to differ decide. */
static Val rule_equal(const Masks *m, const Two *t) {
    Val mask = mask_both(m, t->ma, t->mb), zero = LLVMConstNull(LLVMTypeOf(mask));
    Val differ = LLVMBuildAnd(m->b, LLVMBuildXor(m->b, t->a, t->b, ""), not(m, mask), "");
    Val same = LLVMBuildICmp(m->b, LLVMIntEQ, differ, zero, "");
    return LLVMBuildAnd(m->b, LLVMBuildICmp(m->b, LLVMIntNE, mask, zero, ""), same, "");
}

static bool is_signed(LLVMIntPredicate p) {
    return p >= LLVMIntSGT && p <= LLVMIntSLE;
}

static LLVMIntPredicate without_sign(LLVMIntPredicate p) {
    return is_signed(p) ? (LLVMIntPredicate)(p - LLVMIntSGT + LLVMIntUGT) : p;
}

/* A number with a sign, as one without: the order stays. */
static Val shifted(const Masks *m, Val v) {
    LLVMTypeRef type = LLVMTypeOf(v);
    Val ones = LLVMConstAllOnes(type), low = LLVMConstInt(type, 1, false);
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        Val one[64];
        u32 lanes = LLVMGetVectorSize(type);
        if (lanes > ARRAY_LEN(one))
            return NULL;
        for (u32 i = 0; i < lanes; i++)
            one[i] = LLVMConstInt(LLVMGetElementType(type), 1, false);
        low = LLVMConstVector(one, lanes);
    }
    Val top = LLVMBuildXor(m->b, ones, LLVMBuildLShr(m->b, ones, low, ""), "");
    return LLVMBuildXor(m->b, v, top, "");
}

/* What the least and the greatest numbers say, if they agree. */
static Val rule_order(const Masks *m, LLVMIntPredicate p, Two t) {
    if (is_signed(p))
        t.a = shifted(m, t.a), t.b = shifted(m, t.b);
    if (!t.a || !t.b)
        return NULL;
    LLVMIntPredicate plain = without_sign(p);
    Val one = LLVMBuildICmp(m->b, plain, value_least(m, t.a, t.ma), value_most(m, t.b, t.mb), "");
    Val other = LLVMBuildICmp(m->b, plain, value_most(m, t.a, t.ma), value_least(m, t.b, t.mb), "");
    return LLVMBuildXor(m->b, one, other, "");
}

static Val rule_compare(const Masks *m, Val insn) {
    Two t = operands(m, insn);
    LLVMIntPredicate p = LLVMGetICmpPredicate(insn);
    if (!has_masks(&t) || t.a == t.b)
        return NULL;
    return p == LLVMIntEQ || p == LLVMIntNE ? rule_equal(m, &t) : rule_order(m, p, t);
}

static Val rule_select(const Masks *m, Val insn) {
    Val condition = LLVMGetOperand(insn, 0), a = LLVMGetOperand(insn, 1), b = LLVMGetOperand(insn, 2);
    Val mc = mask_of(m, condition), ma = mask_of(m, a), mb = mask_of(m, b);
    LLVMTypeRef type = mask_type_of(m, insn);
    Val zero = LLVMConstNull(type);
    Val chosen = ma || mb ? LLVMBuildSelect(m->b, condition, ma ? ma : zero, mb ? mb : zero, "") : NULL;
    if (!mc)
        return chosen;
    Val differ = LLVMBuildXor(m->b, bits_of(m, a), bits_of(m, b), "");
    Val either = mask_both(m, mask_both(m, ma, mb), differ);
    return mask_both(m, chosen, LLVMBuildSelect(m->b, mc, either, zero, ""));
}

/* ----------------------------------------------------------------------------------------------------------- conversions */

static Val cast_bits(const Masks *m, Val mask, LLVMTypeRef to) {
    return LLVMTypeOf(mask) == to ? mask : LLVMBuildBitCast(m->b, mask, to, "");
}

static Val rule_conversion(const Masks *m, Val insn) {
    Val mask = mask_of(m, LLVMGetOperand(insn, 0));
    LLVMTypeRef to = mask_type_of(m, insn);
    if (!mask || !to)
        return NULL;
    switch (LLVMGetInstructionOpcode(insn)) {
    case LLVMTrunc:
        return LLVMBuildTrunc(m->b, mask, to, "");
    case LLVMZExt:
        return LLVMBuildZExt(m->b, mask, to, "");
    case LLVMSExt:
        return LLVMBuildSExt(m->b, mask, to, "");
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        return LLVMBuildIntCast2(m->b, mask, to, false, "");
    case LLVMBitCast:
        return cast_bits(m, mask, to);
    case LLVMFNeg:
    case LLVMFreeze:
        return mask;
    default: /* of floating point */
        return mask_lanes(m, mask, to);
    }
}

/* An address is a sum. */
static Val rule_address(const Masks *m, Val insn) {
    Val sum = NULL;
    for (u32 i = 0; i < (u32)LLVMGetNumOperands(insn); i++) {
        Val mask = mask_of(m, LLVMGetOperand(insn, i));
        sum = mask_both(m, sum, mask ? LLVMBuildIntCast2(m->b, mask, m->word, true, "") : NULL);
    }
    return mask_left(m, sum);
}

/* --------------------------------------------------------------------------------------------------------------- vectors */

static Val rule_extract(const Masks *m, Val insn) {
    Val mask = mask_of(m, LLVMGetOperand(insn, 0));
    return mask ? LLVMBuildExtractElement(m->b, mask, LLVMGetOperand(insn, 1), "") : NULL;
}

static Val rule_insert(const Masks *m, Val insn) {
    Val vector = LLVMGetOperand(insn, 0), lane = LLVMGetOperand(insn, 1);
    Val mv = mask_of(m, vector), ml = mask_of(m, lane);
    if (!mv && !ml)
        return NULL;
    return LLVMBuildInsertElement(m->b, mask_or_zero(m, mv, vector), mask_or_zero(m, ml, lane), LLVMGetOperand(insn, 2),
                                  "");
}

/* Lanes that nobody looks at are taken from the first operand: a mask has no poison. */
static Val rule_shuffle(const Masks *m, Val insn) {
    enum { LANES_MOST = 64 };
    Val a = LLVMGetOperand(insn, 0), b = LLVMGetOperand(insn, 1), lanes[LANES_MOST];
    Val ma = mask_of(m, a), mb = mask_of(m, b);
    u32 count = LLVMGetNumMaskElements(insn);
    if ((!ma && !mb) || count > LANES_MOST)
        return NULL;
    for (u32 i = 0; i < count; i++) {
        int lane = LLVMGetMaskValue(insn, i);
        lanes[i] = LLVMConstInt(LLVMInt32TypeInContext(m->ctx), lane < 0 ? 0 : (u64)lane, false);
    }
    return LLVMBuildShuffleVector(m->b, mask_or_zero(m, ma, a), mask_or_zero(m, mb, b), LLVMConstVector(lanes, count),
                                  "");
}

/* ------------------------------------------------------------------------------------------------------------ intrinsics */

static Val call_same(const Masks *m, Val insn, Val *args, u32 count) {
    return LLVMBuildCall2(m->b, LLVMGetCalledFunctionType(insn), LLVMGetCalledValue(insn), args, count, "");
}

/* The lowest bit that is surely set hides what is above it. */
static Val rule_trailing(const Masks *m, const Two *t) {
    return mask_lanes(m, doubt_below(m, t->a, t->ma), LLVMTypeOf(t->a));
}

static Val rule_leading(const Masks *m, const Two *t) {
    Val set = value_least(m, t->a, t->ma);
    return mask_if(m, LLVMBuildICmp(m->b, LLVMIntUGT, t->ma, set, ""), LLVMTypeOf(t->a));
}

/* The least of the least numbers, and of the greatest. */
static Val rule_extreme(const Masks *m, Val insn, const Two *t) {
    Val least[] = {value_least(m, t->a, t->ma), value_least(m, t->b, t->mb)};
    Val most[] = {value_most(m, t->a, t->ma), value_most(m, t->b, t->mb)};
    Val differ = LLVMBuildXor(m->b, call_same(m, insn, least, 2), call_same(m, insn, most, 2), "");
    return mask_lanes(m, differ, LLVMTypeOf(t->a));
}

static Val rule_funnel(const Masks *m, Val insn, const Two *t) {
    Val count = LLVMGetOperand(insn, 2);
    Val args[] = {mask_or_zero(m, t->ma, t->a), mask_or_zero(m, t->mb, t->b), count};
    return mask_both(m, call_same(m, insn, args, 3), mask_lanes(m, mask_of(m, count), LLVMTypeOf(t->a)));
}

static Val rule_moved_bits(const Masks *m, Val insn, const Two *t) {
    Val arg = t->ma;
    return call_same(m, insn, &arg, 1);
}

static bool begins_with(const char *name, const char *const *list, u32 count) {
    for (u32 i = 0; i < count; i++)
        if (!strncmp(name, list[i], strlen(list[i])))
            return true;
    return false;
}

/* A lane of the result depends on the same lanes of all operands. */
static bool is_of_lanes(const char *name) {
    static const char *const list[] = {"llvm.ctpop.",     "llvm.abs.",      "llvm.sqrt.",
                                       "llvm.fabs.",      "llvm.fma.",      "llvm.smin.",
                                       "llvm.smax.",      "llvm.uadd.",     "llvm.usub.",
                                       "llvm.sadd.",      "llvm.ssub.",     "llvm.trunc.",
                                       "llvm.floor.",     "llvm.ceil.",     "llvm.roundeven.",
                                       "llvm.nearbyint.", "llvm.copysign.", "llvm.experimental.constrained."};
    return begins_with(name, list, ARRAY_LEN(list));
}

static Val rule_of_lanes(const Masks *m, Val insn) {
    LLVMTypeRef to = mask_type_of(m, insn);
    Val all = NULL;
    for (u32 i = 0; to && i < LLVMGetNumArgOperands(insn); i++)
        all = mask_both(m, all, mask_lanes(m, mask_of(m, LLVMGetOperand(insn, i)), to));
    return all;
}

static Val rule_intrinsic(const Masks *m, Val insn, const char *name) {
    if (is_of_lanes(name))
        return rule_of_lanes(m, insn);
    bool has_two = LLVMGetNumArgOperands(insn) > 1;
    Val first = LLVMGetNumArgOperands(insn) ? LLVMGetOperand(insn, 0) : NULL;
    if (!first || !mask_type_of(m, first) || !mask_type_of(m, insn))
        return NULL;
    Two t = {.a = bits_of(m, first), .ma = mask_of(m, first)};
    if (has_two && mask_type_of(m, LLVMGetOperand(insn, 1)))
        t.b = bits_of(m, LLVMGetOperand(insn, 1)), t.mb = mask_of(m, LLVMGetOperand(insn, 1));
    if (!strncmp(name, "llvm.cttz.", 10))
        return t.ma ? rule_trailing(m, &t) : NULL;
    if (!strncmp(name, "llvm.ctlz.", 10))
        return t.ma ? rule_leading(m, &t) : NULL;
    if (!strncmp(name, "llvm.umin.", 10) || !strncmp(name, "llvm.umax.", 10))
        return has_masks(&t) ? rule_extreme(m, insn, &t) : NULL;
    if (!strncmp(name, "llvm.fshl.", 10) || !strncmp(name, "llvm.fshr.", 10))
        return has_masks(&t) || mask_of(m, LLVMGetOperand(insn, 2)) ? rule_funnel(m, insn, &t) : NULL;
    if (!strncmp(name, "llvm.bswap.", 11) || !strncmp(name, "llvm.bitreverse.", 16))
        return t.ma ? rule_moved_bits(m, insn, &t) : NULL;
    return NULL;
}

/* Both results of an addition or subtraction with a carry, or of a multiplication. */
static Val rule_with_overflow(const Masks *m, Val insn, Val call, const char *name) {
    Val a = LLVMGetOperand(call, 0), b = LLVMGetOperand(call, 1);
    Val mask = mask_both(m, mask_of(m, a), mask_of(m, b));
    if (!mask || *LLVMGetIndices(insn) == 0)
        return mask_left(m, mask);
    bool adds = !strncmp(name, "llvm.uadd.", 10), subtracts = !strncmp(name, "llvm.usub.", 10);
    if (!adds && !subtracts)
        return mask_lanes(m, mask, mask_type_of(m, insn));
    Val ma = mask_of(m, a), mb = mask_of(m, b);
    Val least[] = {value_least(m, a, ma), subtracts ? value_most(m, b, mb) : value_least(m, b, mb)};
    Val most[] = {value_most(m, a, ma), subtracts ? value_least(m, b, mb) : value_most(m, b, mb)};
    Val one = LLVMBuildExtractValue(m->b, call_same(m, call, least, 2), 1, "");
    Val other = LLVMBuildExtractValue(m->b, call_same(m, call, most, 2), 1, "");
    return LLVMBuildXor(m->b, one, other, "");
}

static const char *intrinsic_name(Val call) {
    size_t len;
    Val callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee) ? LLVMGetValueName2(callee, &len) : NULL;
}

/* What calls of lifted functions return. */
static Val rule_extract_value(const Masks *m, Val insn) {
    Val from = LLVMGetOperand(insn, 0);
    u32 at, index = *LLVMGetIndices(insn);
    if (!LLVMIsACallInst(from) || LLVMGetNumIndices(insn) != 1)
        return NULL;
    if (map64_get(&m->call_index, (u64)from, &at))
        return index < m->calls.at[at].count ? m->calls.at[at].slot[index] : NULL;
    const char *name = intrinsic_name(from);
    return name && strstr(name, ".with.overflow.") ? rule_with_overflow(m, insn, from, name) : NULL;
}

/* --------------------------------------------------------------------------------------------------------------- public */

bool rule_apply(Masks *m, Val insn, Val *mask) {
    switch (LLVMGetInstructionOpcode(insn)) {
    case LLVMAdd:
    case LLVMFAdd:
    case LLVMSub:
    case LLVMFSub:
    case LLVMMul:
    case LLVMFMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMFDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMFRem:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
        *mask = rule_binary(m, insn);
        return true;
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMFNeg:
    case LLVMFreeze:
        *mask = rule_conversion(m, insn);
        return true;
    case LLVMGetElementPtr:
        *mask = rule_address(m, insn);
        return true;
    case LLVMICmp:
        *mask = rule_compare(m, insn);
        return true;
    case LLVMFCmp: {
        Val all = mask_both(m, mask_of(m, LLVMGetOperand(insn, 0)), mask_of(m, LLVMGetOperand(insn, 1)));
        *mask = mask_lanes(m, all, mask_type_of(m, insn));
        return true;
    }
    case LLVMSelect:
        *mask = mask_type_of(m, insn) ? rule_select(m, insn) : NULL;
        return true;
    case LLVMExtractElement:
        *mask = rule_extract(m, insn);
        return true;
    case LLVMInsertElement:
        *mask = rule_insert(m, insn);
        return true;
    case LLVMShuffleVector:
        *mask = rule_shuffle(m, insn);
        return true;
    case LLVMExtractValue:
        *mask = rule_extract_value(m, insn);
        return true;
    case LLVMCall:
        *mask = intrinsic_name(insn) ? rule_intrinsic(m, insn, intrinsic_name(insn)) : NULL;
        return intrinsic_name(insn);
    default:
        return false;
    }
}
