/* nowrap.c: see nowrap.h. Machine code has lost what C says of `int`: that i + 1 is never smaller than i. Without it, neither
 * are a[i] and a[i + 1] neighbours nor is a loop over i one over addresses. */
#include "binopt/llvm/nowrap.h"

enum { MAX_DEPTH = 16 };

static bool is_i32(Val v) {
    LLVMTypeRef t = LLVMTypeOf(v);
    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 32;
}

static void mark(Val v, int depth) {
    if (!depth || !LLVMIsAInstruction(v) || !is_i32(v))
        return;
    if (LLVMIsAPHINode(v)) {
        for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
            mark(LLVMGetIncomingValue(v, i), depth - 1);
        return;
    }
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
        if (LLVMGetNSW(v))
            return;
        LLVMSetNSW(v, true);
        mark(LLVMGetOperand(v, 0), depth - 1);
        mark(LLVMGetOperand(v, 1), depth - 1);
        return;
    default:
        return;
    }
}

void nowrap_mark(Unit *u) {
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (LLVMIsASExtInst(in))
                mark(LLVMGetOperand(in, 0), MAX_DEPTH);
}
