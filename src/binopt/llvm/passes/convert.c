/* convert.c: see convert.h.
 *
 * cvttss2si and its relatives give the most negative integer for what does not fit (SDM 2A, CVTTSS2SI), where LLVM's
 * conversion is undefined: the expanded form is select(|x| < 2^31, fptosi x, INT_MIN). That of -2^31 - 1 < x <= -2^31 is
 * INT_MIN in both. */
#include "binopt/llvm/passes/convert.h"

/* ----------------------------------------------------------------------------------------------------------- conversions */

typedef struct Conversion {
    const char *intrinsic;
    Ty from, to; /* as the values are; the intrinsic's operand may be a vector of which this is the low lane */
} Conversion;

static const Conversion conversions[] = {
    {"llvm.x86.sse.cvttss2si", F32, I32},
    {"llvm.x86.sse.cvttss2si64", F32, I64},
    {"llvm.x86.sse2.cvttsd2si", F64, I32},
    {"llvm.x86.sse2.cvttsd2si64", F64, I64},
    {"llvm.x86.sse2.cvttps2dq", VECTOR(F32, 4), VECTOR(I32, 4)},
    {"llvm.x86.avx.cvtt.ps2dq.256", VECTOR(F32, 8), VECTOR(I32, 8)},
    {"llvm.x86.avx.cvtt.pd2dq.256", VECTOR(F64, 4), VECTOR(I32, 4)},
};

static const char *callee_name(Val call) {
    Val callee = LLVMIsACallInst(call) ? LLVMGetCalledValue(call) : NULL;
    size_t length;
    return callee && LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";
}

static const Conversion *conversion_of_call(Val call) {
    const char *name = callee_name(call);
    for (size_t i = 0; i < ARRAY_LEN(conversions); i++)
        if (!strcmp(name, conversions[i].intrinsic))
            return &conversions[i];
    return NULL;
}

static double limit_of(Ty to) {
    return ty_bits(ty_elem(to)) == 64 ? 0x1p63 : 0x1p31;
}

static Val least_of(Lifter *l, Ty to) {
    return ir_int(l, to, (u64)1 << (ty_bits(ty_elem(to)) - 1));
}

static Val expanded_conversion(Unit *u, Val call) {
    Lifter *l = &u->l;
    const Conversion *c = conversion_of_call(call);
    if (!c)
        return NULL;
    LLVMPositionBuilderBefore(l->b, call);
    Val x = LLVMGetOperand(call, 0);
    if (!ty_is_vector(c->from))
        x = ir_extract(l, x, 0);
    Val fits = ir_fcmp(l, OLT, ir_unary(l, "llvm.fabs", x), ir_float(l, c->from, limit_of(c->to)), false);
    return ir_select(l, fits, ir_float_to_int(l, x, c->to), least_of(l, c->to));
}

/* ------------------------------------------------------------------------------------------------------------ reciprocals */

static Val reciprocal(Lifter *l, Val x, bool of_root) {
    Val one = ir_float(l, ir_ty(x), 1);
    return ir_fop(l, FDIV, one, of_root ? ir_fsqrt(l, x) : x);
}

typedef struct Approximation {
    const char *intrinsic;
    bool of_root, low; /* low: of the low lane only, the others stay */
} Approximation;

static const Approximation approximations[] = {
    {"llvm.x86.sse.rcp.ss", false, true},
    {"llvm.x86.sse.rcp.ps", false, false},
    {"llvm.x86.sse.rsqrt.ss", true, true},
    {"llvm.x86.sse.rsqrt.ps", true, false},
};

/* Whoever allows arithmetic as with real numbers has no use for the twelve bits of the approximation; what a compiler added to
 * make them 23 goes away by itself. */
static Val expanded_reciprocal(Unit *u, Val call) {
    Lifter *l = &u->l;
    const char *name = callee_name(call);
    for (size_t i = 0; u->cfg->fast_math && i < ARRAY_LEN(approximations); i++) {
        const Approximation *a = &approximations[i];
        if (strcmp(name, a->intrinsic))
            continue;
        LLVMPositionBuilderBefore(l->b, call);
        Val x = LLVMGetOperand(call, 0);
        return a->low ? ir_insert(l, x, reciprocal(l, ir_extract(l, x, 0), a->of_root), 0)
                      : reciprocal(l, x, a->of_root);
    }
    return NULL;
}

/* -------------------------------------------------------------------------------------------------------------- and back */

/* Is it fcmp(|x|, limit), with this predicate or one that differs for NaN only? */
static bool compares(Unit *u, Val cond, Val x, Ty to, LLVMRealPredicate p, LLVMRealPredicate or_p) {
    if (!LLVMIsAFCmpInst(cond) || (LLVMGetFCmpPredicate(cond) != p && LLVMGetFCmpPredicate(cond) != or_p))
        return false;
    Val magnitude = LLVMGetOperand(cond, 0), limit = ir_float(&u->l, ir_ty(x), limit_of(to));
    return strstr(callee_name(magnitude), "llvm.fabs.") && LLVMGetOperand(magnitude, 0) == x &&
           LLVMGetOperand(cond, 1) == limit;
}

static Val restored(Unit *u, Val select) {
    Lifter *l = &u->l;
    Val cond = LLVMGetOperand(select, 0), yes = LLVMGetOperand(select, 1), no = LLVMGetOperand(select, 2);
    bool turned = LLVMIsAFPToSIInst(no);
    Val cast = turned ? no : yes, other = turned ? yes : no;
    if (!LLVMIsAFPToSIInst(cast))
        return NULL;
    Val x = LLVMGetOperand(cast, 0);
    Ty from = ir_ty(x), to = ir_ty(cast);
    if (other != least_of(l, to) || !(turned ? compares(u, cond, x, to, LLVMRealUGE, LLVMRealOGE)
                                             : compares(u, cond, x, to, LLVMRealOLT, LLVMRealULT)))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(conversions); i++)
        if (conversions[i].from == from && conversions[i].to == to) {
            LLVMPositionBuilderBefore(l->b, select);
            if (!ty_is_vector(from))
                x = ir_low_lane(l, x, 128 / ty_bits(from));
            return ir_intrinsic(l, conversions[i].intrinsic, NULL, 0, &x, 1);
        }
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------------- public */

static void replace(Val old, Val by) {
    LLVMReplaceAllUsesWith(old, by);
    LLVMInstructionEraseFromParent(old);
}

bool convert_expand(Unit *u) {
    bool changed = false;
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b), next; in; in = next) {
            next = LLVMGetNextInstruction(in);
            if (!LLVMIsACallInst(in))
                continue;
            Val v = expanded_conversion(u, in);
            if (!v)
                v = expanded_reciprocal(u, in);
            if (!v)
                continue;
            replace(in, v);
            changed = true;
        }
    return changed;
}

/* The comparison and LLVM's conversion are dead then, which code generation sees. */
void convert_restore(Unit *u) {
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b), next; in; in = next) {
            next = LLVMGetNextInstruction(in);
            Val v = LLVMIsASelectInst(in) ? restored(u, in) : NULL;
            if (v)
                replace(in, v);
        }
}
