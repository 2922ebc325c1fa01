/* nowrap.c: see nowrap.h. Machine code has lost the fact that an `int` of C never overflows: that i + 1 is never
 * smaller than i. Without it, LLVM does not see that a[i] and a[i + 1] are neighbours, or that a loop over i is one
 * over addresses. */
#include "binopt/llvm/passes/nowrap.h"

enum { MAX_DEPTH = 16, MAX_USES = 5 };

static bool is_i32(Val v) {
    LLVMTypeRef t = LLVMTypeOf(v);
    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 32;
}

/* Arithmetic that is marked; a shift to the left is a product. */
static bool is_followed(Val v) {
    u64 count;
    if (!LLVMIsABinaryOperator(v) || !is_i32(v))
        return false;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
        return true;
    case LLVMShl:
        return ir_is_const(LLVMGetOperand(v, 1), &count) && count < 31;
    default:
        return false;
    }
}

static void mark(Val v, int depth) {
    if (!depth || !LLVMIsAInstruction(v) || !is_i32(v))
        return;
    if (LLVMIsAPHINode(v)) {
        for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
            mark(LLVMGetIncomingValue(v, i), depth - 1);
        return;
    }
    if (!is_followed(v) || LLVMGetNSW(v))
        return;
    LLVMSetNSW(v, true);
    mark(LLVMGetOperand(v, 0), depth - 1);
    mark(LLVMGetOperand(v, 1), depth - 1);
}

/* Arithmetic by which an index becomes part of an address. */
static bool leads_on(Val v) {
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMOr:
    case LLVMPHI:
        return true;
    default:
        return false;
    }
}

/* True if the 64-bit number v becomes a part of an address. */
static bool is_in_address(Val v, int depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(v); use && depth; use = LLVMGetNextUse(use)) {
        Val user = LLVMGetUser(use);
        if (LLVMIsAIntToPtrInst(user) || LLVMIsAGetElementPtrInst(user))
            return true;
        if (LLVMIsAInstruction(user) && leads_on(user) && is_in_address(user, depth - 1))
            return true;
    }
    return false;
}

/* Computes v in 64 bits as well: LLVM does not always see that marked arithmetic can be done after extending. */
static Val widened(LlvmUnit *u, Val v, Val at, int depth) {
    LLVMTypeRef i64_type = ir_type(&u->l, I64);
    u64 constant;
    if (ir_is_const(v, &constant))
        return ir_int(&u->l, I64, (u64)(i64)(i32)constant);
    if (!depth || !is_followed(v) || !LLVMGetNSW(v)) {
        LLVMPositionBuilderBefore(u->l.b, at);
        return LLVMBuildSExt(u->l.b, v, i64_type, "");
    }
    Val a = widened(u, LLVMGetOperand(v, 0), v, depth - 1), b = widened(u, LLVMGetOperand(v, 1), v, depth - 1);
    LLVMPositionBuilderBefore(u->l.b, v);
    Val made = LLVMBuildBinOp(u->l.b, LLVMGetInstructionOpcode(v), a, b, "");
    if (LLVMIsAInstruction(made))
        LLVMSetNSW(made, true);
    return made;
}

void nowrap_mark(LlvmUnit *u) {
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (LLVMIsASExtInst(in) && is_in_address(in, MAX_USES))
                mark(LLVMGetOperand(in, 0), MAX_DEPTH);
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b), next; in; in = next) {
            next = LLVMGetNextInstruction(in);
            Val narrow = LLVMIsASExtInst(in) ? LLVMGetOperand(in, 0) : NULL;
            if (!narrow || LLVMTypeOf(in) != ir_type(&u->l, I64) || !is_followed(narrow) || !LLVMGetNSW(narrow))
                continue;
            LLVMReplaceAllUsesWith(in, widened(u, narrow, in, MAX_DEPTH));
            LLVMInstructionEraseFromParent(in);
        }
}
