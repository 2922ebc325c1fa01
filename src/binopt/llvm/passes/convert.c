/* convert.c: see convert.h.
 *
 * cvttss2si and similar instructions give the most negative integer if the result does not fit (SDM 2A, CVTTSS2SI), where LLVM's conversion
 * is undefined: the expanded form is select(|x| < 2^31, fptosi x, INT_MIN). For -2^31 - 1 < x <= -2^31 both give INT_MIN. */
#include "binopt/llvm/passes/convert.h"

/* ----------------------------------------------------------------------------------------------------------- conversions */

/* The types of the values; the intrinsic's operand may be a vector of which this is the low lane. */
static Ty with_lanes(const HostTruncation *t, Ty elem) {
    return t->lanes == 1 ? elem : VECTOR(elem, t->lanes);
}

static Ty type_before(const HostTruncation *t) {
    return with_lanes(t, t->from_bits == 64 ? F64 : F32);
}

static Ty type_after(const HostTruncation *t) {
    return with_lanes(t, t->to_bits == 64 ? I64 : I32);
}

static const char *callee_name(Val call) {
    Val callee = LLVMIsACallInst(call) ? LLVMGetCalledValue(call) : NULL;
    size_t length;
    return callee && LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";
}

static const HostTruncation *truncation_of_call(const Host *host, Val call) {
    const char *name = callee_name(call);
    for (const HostTruncation *t = host->truncations; t && t->intrinsic; t++)
        if (!strcmp(name, t->intrinsic))
            return t;
    return NULL;
}

static double limit_of(Ty to) {
    return ty_bits(ty_elem(to)) == 64 ? 0x1p63 : 0x1p31;
}

static Val least_of(Lifter *l, Ty to) {
    return ir_int(l, to, (u64)1 << (ty_bits(ty_elem(to)) - 1));
}

static Val expanded_conversion(LlvmUnit *u, Val call) {
    Lifter *l = &u->l;
    const HostTruncation *t = truncation_of_call(l->host, call);
    if (!t)
        return NULL;
    Ty from = type_before(t), to = type_after(t);
    LLVMPositionBuilderBefore(l->b, call);
    Val x = LLVMGetOperand(call, 0);
    if (!ty_is_vector(from))
        x = ir_extract(l, x, 0);
    Val fits = ir_fcmp(l, OLT, ir_unary(l, "llvm.fabs", x), ir_float(l, from, limit_of(to)), false);
    return ir_select(l, fits, ir_float_to_int(l, x, to), least_of(l, to));
}

/* ------------------------------------------------------------------------------------------------------------ reciprocals */

static Val reciprocal(Lifter *l, Val x, bool of_root) {
    Val one = ir_float(l, ir_ty(x), 1);
    return ir_fop(l, FDIV, one, of_root ? ir_fsqrt(l, x) : x);
}

/* With fast-math nobody needs the twelve bits of the approximation; the code that a compiler added to make them 23 then
 * becomes unnecessary. */
static Val expanded_reciprocal(LlvmUnit *u, Val call) {
    Lifter *l = &u->l;
    const char *name = callee_name(call);
    for (const HostEstimate *e = l->host->estimates; u->cfg->fast_math && e && e->intrinsic; e++) {
        if (strcmp(name, e->intrinsic))
            continue;
        LLVMPositionBuilderBefore(l->b, call);
        Val x = LLVMGetOperand(call, 0);
        return e->low ? ir_insert(l, x, reciprocal(l, ir_extract(l, x, 0), e->of_root), 0)
                      : reciprocal(l, x, e->of_root);
    }
    return NULL;
}

/* -------------------------------------------------------------------------------------------------------------- and back */

/* True for fcmp(|x|, limit) with one of these predicates, which differ only for NaN. */
static bool compares(LlvmUnit *u, Val cond, Val x, Ty to, LLVMRealPredicate p, LLVMRealPredicate or_p) {
    if (!LLVMIsAFCmpInst(cond) || (LLVMGetFCmpPredicate(cond) != p && LLVMGetFCmpPredicate(cond) != or_p))
        return false;
    Val magnitude = LLVMGetOperand(cond, 0), limit = ir_float(&u->l, ir_ty(x), limit_of(to));
    return strstr(callee_name(magnitude), "llvm.fabs.") && LLVMGetOperand(magnitude, 0) == x &&
           LLVMGetOperand(cond, 1) == limit;
}

static Val restored(LlvmUnit *u, Val select) {
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
    for (const HostTruncation *t = l->host->truncations; t && t->intrinsic; t++)
        if (type_before(t) == from && type_after(t) == to) {
            LLVMPositionBuilderBefore(l->b, select);
            if (!ty_is_vector(from))
                x = ir_low_lane(l, x, 128 / ty_bits(from));
            return ir_intrinsic(l, t->intrinsic, NULL, 0, &x, 1);
        }
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------------- public */

static void replace(Val old, Val by) {
    LLVMReplaceAllUsesWith(old, by);
    LLVMInstructionEraseFromParent(old);
}

bool convert_expand(LlvmUnit *u) {
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

/* Afterwards the comparison and LLVM's conversion are dead, and code generation removes them. */
void convert_restore(LlvmUnit *u) {
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b), next; in; in = next) {
            next = LLVMGetNextInstruction(in);
            Val v = LLVMIsASelectInst(in) ? restored(u, in) : NULL;
            if (v)
                replace(in, v);
        }
}
