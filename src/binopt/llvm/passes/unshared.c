/* unshared.c: see unshared.h. Follows every pointer that is made from the stack's address. Alias metadata then says
 * that accesses through them are in a scope of their own, and that all others are not in it. */
#include "binopt/llvm/passes/unshared.h"

#include "binopt/llvm/lift/callout.h"
#include "binopt/llvm/passes/lower.h"
#include "ir/scopes.h"

typedef struct StackWalk {
    LlvmUnit *u;
    VEC(Val) pointers; /* those made from the stack's address */
    bool shared;       /* other code may have an address of the stack */
} StackWalk;

static void add(StackWalk *w, Val pointer) {
    for (size_t i = 0; i < w->pointers.len; i++)
        if (w->pointers.at[i] == pointer)
            return;
    VEC_PUSH(&w->pointers, pointer);
}

static bool is_lifetime(Val insn) {
    size_t length;
    Val callee = LLVMIsACallInst(insn) ? LLVMGetCalledValue(insn) : NULL;
    return callee && LLVMIsAFunction(callee) && !strncmp(LLVMGetValueName2(callee, &length), "llvm.lifetime.", 14);
}

static bool is_only_sp(const LlvmUnit *u, Val call, Val pointer) {
    CallShape shape;
    if (!callout_is(u, call, &shape))
        return false;
    for (unsigned i = 0, n = LLVMGetNumArgOperands(call); i + 1 < n; i++)
        if (LLVMGetOperand(call, i) == pointer)
            return false;
    return true;
}

static void look_at(StackWalk *w, Val pointer, Val user) {
    if (LLVMIsAGetElementPtrInst(user) || LLVMIsAPHINode(user) || LLVMIsASelectInst(user))
        add(w, user);
    else if (LLVMIsAStoreInst(user))
        w->shared |= LLVMGetOperand(user, 0) == pointer;
    else if (!LLVMIsALoadInst(user) && !is_lifetime(user) && !is_only_sp(w->u, user, pointer))
        w->shared = true;
}

static void follow(StackWalk *w) {
    for (size_t i = 0; i < w->pointers.len && !w->shared; i++)
        for (LLVMUseRef use = LLVMGetFirstUse(w->pointers.at[i]); use; use = LLVMGetNextUse(use))
            look_at(w, w->pointers.at[i], LLVMGetUser(use));
}

static ScopeSide side_of(const StackWalk *w, Val access) {
    if (w->shared)
        return SCOPE_EITHER;
    Val pointer = LLVMGetOperand(access, LLVMIsAStoreInst(access) ? 1 : 0);
    for (size_t i = 0; i < w->pointers.len; i++)
        if (w->pointers.at[i] == pointer)
            return SCOPE_IN;
    return SCOPE_OUT;
}

bool unshared_mark(LlvmUnit *u) {
    StackWalk w = {.u = u};
    Val stack = lower_find_stack(u);
    if (!stack)
        return false;
    OwnScope own = scope_new(&u->l, "guest stack");
    add(&w, stack);
    follow(&w);
    bool changed = false;
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (LLVMIsALoadInst(in) || LLVMIsAStoreInst(in))
                changed |= scope_say(&u->l, &own, in, side_of(&w, in));
    VEC_FREE(&w.pointers);
    return changed && !w.shared;
}
