/* pointers.c: see pointers.h. An integer is a pointer if it is a pointer plus an offset that is none. Phis that loops
 * carry and that are made of each other are considered together: if all other values that enter them are pointers, all
 * of them are. */
#include "binopt/llvm/passes/pointers.h"

#include <llvm-c/Target.h>

#include "binopt/llvm/passes/fold.h"

enum { MAX_PHIS = 16, MAX_DEPTH = 8, MAX_SEEN = 32 };

typedef struct SumWalk {
    LlvmUnit *u;
    bool rooted; /* at least one pointer enters */
    u32 count;
    Val phi[MAX_PHIS], pointer[MAX_PHIS];
} SumWalk;

static bool is_add(Val v) {
    return LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == LLVMAdd;
}

typedef struct SeenValues {
    u32 count;
    Val value[MAX_SEEN];
} SeenValues;

static bool is_seen(const SeenValues *s, Val v) {
    for (u32 i = 0; i < s->count; i++)
        if (s->value[i] == v)
            return true;
    return false;
}

static bool reaches_address(LlvmUnit *u, Val v, SeenValues *s) {
    if (fold_pointer(u, v))
        return true;
    if (!LLVMIsAInstruction(v) || LLVMIsALoadInst(v) || LLVMIsACallInst(v) || is_seen(s, v))
        return false;
    if (s->count == MAX_SEEN)
        return true;
    s->value[s->count++] = v;
    for (unsigned i = 0, n = (unsigned)LLVMGetNumOperands(v); i < n; i++)
        if (reaches_address(u, LLVMGetOperand(v, i), s))
            return true;
    return false;
}

/* True if a part of this may be an address. The distance of two objects leads from one object to the other, but LLVM
 * would assume that the sum stays in the first. */
static bool has_address(LlvmUnit *u, Val v) {
    SeenValues seen = {0};
    return reaches_address(u, v, &seen);
}

static bool is_address(SumWalk *w, Val v, int depth);

static bool add_phi(SumWalk *w, Val phi) {
    for (u32 i = 0; i < w->count; i++)
        if (w->phi[i] == phi)
            return true;
    if (w->count == MAX_PHIS)
        return false;
    w->phi[w->count++] = phi;
    for (unsigned i = 0, n = LLVMCountIncoming(phi); i < n; i++)
        if (!is_address(w, LLVMGetIncomingValue(phi, i), MAX_DEPTH))
            return false;
    return true;
}

/* Which operand of a sum is the address; -1: neither, or it cannot be told. */
static int address_operand(SumWalk *w, Val sum, int depth) {
    for (int i = 0; i < 2; i++)
        if (!has_address(w->u, LLVMGetOperand(sum, (unsigned)(1 - i))))
            return is_address(w, LLVMGetOperand(sum, (unsigned)i), depth) ? i : -1;
    return -1;
}

static bool is_address(SumWalk *w, Val v, int depth) {
    if (fold_pointer(w->u, v))
        return w->rooted = true;
    if (LLVMIsAPHINode(v))
        return add_phi(w, v);
    return is_add(v) && depth && address_operand(w, v, depth - 1) >= 0;
}

static Val as_pointer(SumWalk *w, Val v) {
    for (u32 i = 0; i < w->count; i++)
        if (w->phi[i] == v)
            return w->pointer[i];
    Val p = fold_pointer(w->u, v);
    if (p)
        return p;
    int at = address_operand(w, v, MAX_DEPTH);
    Val base = as_pointer(w, LLVMGetOperand(v, (unsigned)at)), off = LLVMGetOperand(v, (unsigned)(1 - at));
    return LLVMBuildGEP2(w->u->l.b, ir_type(&w->u->l, I8), base, &off, 1, "");
}

static void convert_phis(SumWalk *w) {
    Lifter *l = &w->u->l;
    for (u32 i = 0; i < w->count; i++) {
        LLVMPositionBuilderBefore(l->b, w->phi[i]);
        w->pointer[i] = LLVMBuildPhi(l->b, ir_type(l, PTR), "");
    }
    for (u32 i = 0; i < w->count; i++)
        for (unsigned k = 0, n = LLVMCountIncoming(w->phi[i]); k < n; k++) {
            Label from = LLVMGetIncomingBlock(w->phi[i], k);
            LLVMPositionBuilderBefore(l->b, LLVMGetBasicBlockTerminator(from));
            Val p = as_pointer(w, LLVMGetIncomingValue(w->phi[i], k));
            LLVMAddIncoming(w->pointer[i], &p, &from, 1);
        }
    for (u32 i = 0; i < w->count; i++) {
        Val first = LLVMGetFirstInstruction(LLVMGetInstructionParent(w->phi[i]));
        while (LLVMIsAPHINode(first))
            first = LLVMGetNextInstruction(first);
        LLVMPositionBuilderBefore(l->b, first);
        LLVMReplaceAllUsesWith(w->phi[i], LLVMBuildPtrToInt(l->b, w->pointer[i], ir_type(l, I64), ""));
    }
    while (w->count)
        LLVMInstructionEraseFromParent(w->phi[--w->count]);
}

static bool convert(LlvmUnit *u, Val cast) {
    SumWalk w = {.u = u};
    Val number = LLVMGetOperand(cast, 0);
    if (LLVMTypeOf(number) != ir_type(&u->l, I64) || LLVMGetPointerAddressSpace(LLVMTypeOf(cast)) ||
        !is_address(&w, number, MAX_DEPTH) || !w.rooted)
        return false;
    convert_phis(&w);
    LLVMPositionBuilderBefore(u->l.b, cast);
    LLVMReplaceAllUsesWith(cast, as_pointer(&w, LLVMGetOperand(cast, 0)));
    LLVMInstructionEraseFromParent(cast);
    return true;
}

/* A memory operand has a base and an index, and lifted code takes the base for the pointer. If the index is a pointer,
 * too, or a distance, the sum becomes a plain number again. */
static bool distrust(LlvmUnit *u, Val sum) {
    Lifter *l = &u->l;
    if (LLVMGetNumOperands(sum) != 2 || !has_address(u, LLVMGetOperand(sum, 1)) ||
        LLVMIsAIntToPtrInst(LLVMGetOperand(sum, 0)))
        return false;
    u64 scale = LLVMABISizeOfType(LLVMGetModuleDataLayout(u->mod), LLVMGetGEPSourceElementType(sum));
    LLVMPositionBuilderBefore(l->b, sum);
    Val base = LLVMBuildPtrToInt(l->b, LLVMGetOperand(sum, 0), ir_type(l, I64), "");
    Val off = LLVMBuildMul(l->b, LLVMGetOperand(sum, 1), ir_int(l, I64, scale), "");
    LLVMReplaceAllUsesWith(sum, LLVMBuildIntToPtr(l->b, LLVMBuildAdd(l->b, base, off, ""), ir_type(l, PTR), ""));
    LLVMInstructionEraseFromParent(sum);
    return true;
}

bool pointers_find(LlvmUnit *u) {
    bool changed = false;
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b), next; in; in = next) {
            next = LLVMGetNextInstruction(in);
            if (LLVMIsAIntToPtrInst(in))
                changed |= convert(u, in);
            else if (LLVMIsAGetElementPtrInst(in))
                changed |= distrust(u, in);
        }
    return changed;
}
