/* call.c: how raised functions call each other. Calls of native code are call_native.c's. */
#include <llvm-c/Core.h>

#include "raise/rewrite.h"

void rewrite_return_stack(Rewriter *w, LLVMValueRef before) {
    rewrite_set(w, w->r->isa->abi.stack, rewrite_offset(w, w->b, before, w->r->isa->abi.return_address_bytes));
}

/* setjmp() comes back into the function that has called it, so that what calls it in the end must not be a function of its own. There, the host's
 * stack pointer is among the registers that it keeps. */
static void mark_twice(Raise *r, LLVMValueRef call, LLVMValueRef stub) {
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, raise_attribute(r, "returns_twice", 0));
    LLVMAddAttributeAtIndex(stub, LLVMAttributeFunctionIndex, raise_attribute(r, "returns_twice", 0));
    LLVMAddAttributeAtIndex(stub, LLVMAttributeFunctionIndex, raise_attribute(r, "alwaysinline", 0));
}

static void call_function(Rewriter *w, const Event *e) {
    const RaiseFunction *g = &w->r->functions.at[e->callee];
    Reg in[REG_MAX + 1], out[REG_MAX];
    LLVMValueRef args[REG_MAX + 1], stack = rewrite_get(w, w->r->isa->abi.stack);
    unsigned count = raise_params(w->r, &g->taken, in), results = raise_results(w->r, &g->given, out);
    for (unsigned i = 0; i < count; i++)
        args[i] = regset_has(&g->taken, in[i]) ? rewrite_get(w, in[i]) : LLVMGetPoison(raise_reg_type(w->r, in[i]));
    args[count] = w->cpu;
    LLVMValueRef call = rewrite_build_call(w, g->type, g->raised, args, count + 1);
    raise_mark_call(w->r, call);
    rewrite_say_stack(w, call, 0);
    if (g->import)
        rewrite_say_native(w, call, e, g->import);
    if (raise_returns_twice(g->import))
        mark_twice(w->r, call, g->raised);
    for (unsigned i = 0; i < results; i++)
        if (regset_has(&g->given, out[i]))
            rewrite_set(w, out[i], LLVMBuildExtractValue(w->b, call, i, ""));
    rewrite_return_stack(w, stack);
}

/* ------------------------------------------------------------------------------------------------- for another machine */

/* The address before a machine has cleared its lowest bit, as that does with every address that it jumps to: the host's functions may have odd ones. */
static LLVMValueRef whole_address(LLVMValueRef target) {
    if (!LLVMIsABinaryOperator(target) || LLVMGetInstructionOpcode(target) != LLVMAnd)
        return target;
    LLVMValueRef mask = LLVMGetOperand(target, 1);
    return LLVMIsAConstantInt(mask) && LLVMConstIntGetZExtValue(mask) == ~(u64)1 ? LLVMGetOperand(target, 0) : target;
}

/* What takes arguments and gives results is not known: everything is handed over in the state. */
static void call_by_state(Rewriter *w, const Event *e, LLVMValueRef target) {
    Raise *r = w->r;
    RegSet passed = r->isa->abi.passed;
    LLVMTypeRef ptr = LLVMPointerTypeInContext(r->ctx, 0),
                type = LLVMFunctionType(LLVMVoidTypeInContext(r->ctx), &ptr, 1, false);
    LLVMValueRef fn = LLVMGetNamedFunction(r->mod, RAISE_CALL), stack = rewrite_get(w, r->isa->abi.stack);
    if (!fn)
        fn = LLVMAddFunction(r->mod, RAISE_CALL, type);
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
    regset_keep(&passed, &e->available);
    regset_add(&passed, r->isa->abi.stack);
    rewrite_spill(w, &passed);
    LLVMBuildStore(w->b, whole_address(target), rewrite_offset(w, w->b, w->cpu, r->isa->pc_off));
    rewrite_build_call(w, type, fn, &w->cpu, 1);
    rewrite_fill(w, &r->isa->abi.results);
    rewrite_return_stack(w, stack);
}

void rewrite_call(Rewriter *w, const Event *e, LLVMValueRef target) {
    if (e->kind == EVENT_CALL)
        call_function(w, e);
    else if (w->r->foreign)
        call_by_state(w, e, target);
    else
        rewrite_call_outside(w, e, target);
}
