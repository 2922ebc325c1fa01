/* scopes.c: see scopes.h. */
#include "ir/scopes.h"

#include <llvm-c/DebugInfo.h>

static const char own_name[] = "own"; /* of the domain of these scopes */

static LLVMMetadataRef named(LLVMContextRef ctx, const char *name, LLVMMetadataRef domain) {
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(ctx, name, strlen(name)), domain};
    return LLVMMDNodeInContext2(ctx, parts, domain ? 2 : 1);
}

/* A scope that is its own name is different from all others, and LLVM makes a new one for each copy of a function that it inlines. */
static LLVMMetadataRef unnamed(LLVMContextRef ctx, LLVMMetadataRef domain) {
    LLVMMetadataRef self = LLVMTemporaryMDNode(ctx, NULL, 0), parts[] = {self, domain};
    LLVMMetadataRef scope = LLVMMDNodeInContext2(ctx, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, scope);
    return scope;
}

static Val list(LLVMContextRef ctx, LLVMMetadataRef *scopes, size_t count) {
    return LLVMMetadataAsValue(ctx, LLVMMDNodeInContext2(ctx, scopes, count));
}

OwnScope scope_new(const Lifter *l, const char *name) {
    Val guest;
    LLVMGetMDNodeOperands(l->scope[SPACE_GUEST], &guest);
    LLVMMetadataRef domain = named(l->ctx, own_name, NULL),
                    own = name ? named(l->ctx, name, domain) : unnamed(l->ctx, domain),
                    both[] = {LLVMValueAsMetadata(guest), own};
    return (OwnScope){.in = list(l->ctx, both, 2), .not_in = list(l->ctx, &own, 1)};
}

static bool set(Val access, u32 kind, Val mark) {
    if (LLVMGetMetadata(access, kind) == mark)
        return false;
    LLVMSetMetadata(access, kind, mark);
    return true;
}

/* Accesses to guest memory have the scope of guest memory, and no other accesses have it. */
bool scope_say(const Lifter *l, const OwnScope *s, Val access, ScopeSide side) {
    if (!LLVMGetMetadata(access, l->md_scope))
        return false;
    if (side == SCOPE_IN)
        return set(access, l->md_scope, s->in) | set(access, l->md_noalias, NULL);
    return set(access, l->md_noalias, side == SCOPE_OUT ? s->not_in : NULL);
}

/* ---------------------------------------------------------------------------------------------------- all of a function */

typedef VEC(LLVMMetadataRef) Scopes;

static void add(Scopes *all, LLVMMetadataRef scope) {
    for (size_t i = 0; i < all->len; i++)
        if (all->at[i] == scope)
            return;
    VEC_PUSH(all, scope);
}

/* The second part of an access's list of scopes, if it has been said to be in one: scope_new. Otherwise NULL. */
static LLVMMetadataRef own_scope(LLVMContextRef ctx, Val access) {
    Val parts[2], scope[2], scopes = LLVMGetMetadata(access, LLVMGetMDKindIDInContext(ctx, "alias.scope", 11));
    if (!scopes || LLVMGetMDNodeNumOperands(scopes) != 2)
        return NULL;
    LLVMGetMDNodeOperands(scopes, parts);
    if (LLVMGetMDNodeNumOperands(parts[1]) != 2)
        return NULL;
    LLVMGetMDNodeOperands(parts[1], scope);
    bool own = scope[1] == LLVMMetadataAsValue(ctx, named(ctx, own_name, NULL));
    return own ? LLVMValueAsMetadata(parts[1]) : NULL;
}

bool scope_is_own(Val access) {
    return own_scope(LLVMGetTypeContext(LLVMTypeOf(access)), access);
}

Val scope_all(Val fn) {
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(fn));
    Val result = NULL;
    Scopes all = {0};
    for (Label b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if ((LLVMIsALoadInst(in) || LLVMIsAStoreInst(in)) && own_scope(ctx, in))
                add(&all, own_scope(ctx, in));
    if (all.len)
        result = list(ctx, all.at, all.len);
    VEC_FREE(&all);
    return result;
}
