/* unshared.c: see unshared.h. Follows every pointer that is made from the stack's address. Alias metadata then says
 * that accesses through them are in a scope of their own, and that all others are not in it. */
#include "binopt/llvm/passes/unshared.h"

#include "binopt/llvm/lift/callout.h"
#include "binopt/llvm/passes/lower.h"

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

/* ------------------------------------------------------------------------------------------------------------- metadata */

typedef struct Marks {
    Val in, not_in; /* lists of scopes for alias.scope and noalias */
} Marks;

static Val list(LlvmUnit *u, LLVMMetadataRef *scopes, size_t count) {
    return LLVMMetadataAsValue(u->ctx, LLVMMDNodeInContext2(u->ctx, scopes, count));
}

static LLVMMetadataRef named(LlvmUnit *u, const char *name, LLVMMetadataRef domain) {
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(u->ctx, name, strlen(name)), domain};
    return LLVMMDNodeInContext2(u->ctx, parts, domain ? 2 : 1);
}

/* The stack is part of guest memory. */
static Marks make_marks(LlvmUnit *u) {
    Val guest;
    LLVMGetMDNodeOperands(u->l.scope[SPACE_GUEST], &guest);
    LLVMMetadataRef stack = named(u, "guest stack", named(u, "binopt", NULL)),
                    both[] = {LLVMValueAsMetadata(guest), stack};
    return (Marks){.in = list(u, both, 2), .not_in = list(u, &stack, 1)};
}

static bool set(Val access, u32 kind, Val mark) {
    if (LLVMGetMetadata(access, kind) == mark)
        return false;
    LLVMSetMetadata(access, kind, mark);
    return true;
}

/* Accesses to guest memory have the scope of guest memory, and no other accesses have it. */
static bool mark(StackWalk *w, const Marks *m, Val access) {
    const Lifter *l = &w->u->l;
    if (!LLVMGetMetadata(access, l->md_scope))
        return false;
    if (w->shared)
        return set(access, l->md_noalias, NULL);
    Val pointer = LLVMGetOperand(access, LLVMIsAStoreInst(access) ? 1 : 0);
    for (size_t i = 0; i < w->pointers.len; i++)
        if (w->pointers.at[i] == pointer)
            return set(access, l->md_scope, m->in) | set(access, l->md_noalias, NULL);
    return set(access, l->md_noalias, m->not_in);
}

bool unshared_mark(LlvmUnit *u) {
    StackWalk w = {.u = u};
    Val stack = lower_find_stack(u);
    if (!stack)
        return false;
    Marks m = make_marks(u);
    add(&w, stack);
    follow(&w);
    bool changed = false;
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (LLVMIsALoadInst(in) || LLVMIsAStoreInst(in))
                changed |= mark(&w, &m, in);
    VEC_FREE(&w.pointers);
    return changed && !w.shared;
}
