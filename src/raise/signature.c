/* signature.c: what raised functions take and give, and what is said of calls.
 *
 * Raised functions have the host's C convention. What they take comes in the order in which native code passes it: the registers for
 * integers, those for vectors, each up to the last one that is taken, and then the rest, so that most values are where they are passed on.
 * The guest's stack pointer and the state have registers of their own (HostRaise). Results are in the order of the registers, too. */
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>

#include "raise/rewrite.h"

/* The registers of a list up to the last one that is in the set. */
static unsigned list_up_to_last(const Reg *regs, u32 reg_count, const RegSet *set, Reg *list) {
    u32 count = reg_count;
    while (count && !regset_has(set, regs[count - 1]))
        count--;
    memcpy(list, regs, count * sizeof(*regs));
    return count;
}

bool raise_is_listed(const Reg *regs, u32 count, Reg reg) {
    for (u32 i = 0; i < count; i++)
        if (regs[i] == reg)
            return true;
    return false;
}

bool raise_passes_in_place(const Raise *r, Reg reg) {
    const CallAbi *abi = &r->isa->abi;
    return reg == abi->stack || raise_is_listed(abi->int_args, abi->int_arg_count, reg) ||
           raise_is_listed(abi->float_args, abi->float_arg_count, reg);
}

unsigned raise_params(const Raise *r, const RegSet *taken, Reg *list) {
    const CallAbi *abi = &r->isa->abi;
    unsigned count = 0;
    list[count++] = abi->stack;
    count += list_up_to_last(abi->int_args, abi->int_arg_count, taken, list + count);
    count += list_up_to_last(abi->float_args, abi->float_arg_count, taken, list + count);
    for (Reg reg = 0; reg < r->isa->reg_count; reg++)
        if (regset_has(taken, reg) && !raise_passes_in_place(r, reg))
            list[count++] = reg;
    return count;
}

unsigned raise_results(const Raise *r, const RegSet *given, Reg *list) {
    Reg ints[REG_MAX], vectors[REG_MAX];
    u32 int_count = 0, vector_count = 0;
    for (Reg reg = 0; reg < r->isa->reg_count; reg++)
        if (regset_has(&r->isa->abi.results, reg)) {
            if (r->isa->regs[reg].kind == REG_VECTOR)
                vectors[vector_count++] = reg;
            else
                ints[int_count++] = reg;
        }
    unsigned count = list_up_to_last(ints, int_count, given, list);
    return count + list_up_to_last(vectors, vector_count, given, list + count);
}

LLVMTypeRef raise_function_type(Raise *r, const RegSet *taken, const RegSet *given) {
    Reg in[REG_MAX + 1], out[REG_MAX];
    LLVMTypeRef params[REG_MAX + 1], results[REG_MAX];
    unsigned in_count = raise_params(r, taken, in), out_count = raise_results(r, given, out);
    for (unsigned i = 0; i < in_count; i++)
        params[i] = raise_reg_type(r, in[i]);
    for (unsigned i = 0; i < out_count; i++)
        results[i] = raise_reg_type(r, out[i]);
    params[in_count] = LLVMPointerTypeInContext(r->ctx, 0);
    LLVMTypeRef result =
        out_count ? LLVMStructTypeInContext(r->ctx, results, out_count, false) : LLVMVoidTypeInContext(r->ctx);
    return LLVMFunctionType(result, params, in_count + 1, false);
}

LLVMAttributeRef raise_attribute(Raise *r, const char *name, u64 value) {
    return LLVMCreateEnumAttribute(r->ctx, LLVMGetEnumAttributeKindForName(name, strlen(name)), value);
}

static void add_text(Raise *r, LLVMValueRef fn, const char *key, const char *value) {
    LLVMAddAttributeAtIndex(
        fn, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(r->ctx, key, (unsigned)strlen(key), value, (unsigned)strlen(value)));
}

void raise_mark_function(Raise *r, LLVMValueRef fn) {
    unsigned state = LLVMCountParams(fn);
    if (r->unwinds)
        LLVMRemoveEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
                                       LLVMGetEnumAttributeKindForName("nounwind", strlen("nounwind")));
    else
        LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, raise_attribute(r, "nounwind", 0));
    if (r->foreign)
        return;
    LLVMAddAttributeAtIndex(fn, 1, raise_attribute(r, r->host->raise->stack_mark, 0));
    LLVMAddAttributeAtIndex(fn, state, raise_attribute(r, r->host->raise->state_mark, 0));
    /* Native code that is called enters raised functions right below the stack pointer. */
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, raise_attribute(r, "noredzone", 0));
    /* For frames of more than usual alignment, LLVM takes a register that calls of native code have in use. */
    add_text(r, fn, "no-realign-stack", "");
    if (r->tuned_for)
        add_text(r, fn, "tune-cpu", r->tuned_for);
}

void raise_mark_call(Raise *r, LLVMValueRef call) {
    if (r->foreign)
        return;
    LLVMAddCallSiteAttribute(call, 1, raise_attribute(r, r->host->raise->stack_mark, 0));
    LLVMAddCallSiteAttribute(call, LLVMGetNumArgOperands(call), raise_attribute(r, r->host->raise->state_mark, 0));
}

/* -------------------------------------------------------------------------------------------- what is said of calls */

/* For frame.c: which operand is the stack pointer, and whether native code may find something there. */
static const char stack_operand[] = "lathe-stack", on_stack[] = "lathe-on-stack";

static void say(Raise *r, LLVMValueRef call, const char *key, unsigned value) {
    char text[16];
    int len = snprintf(text, sizeof(text), "%u", value);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateStringAttribute(r->ctx, key, (unsigned)strlen(key), text, (unsigned)len));
}

unsigned raise_stack_operand(LLVMValueRef call) {
    LLVMAttributeRef a = LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, stack_operand,
                                                        (unsigned)strlen(stack_operand));
    unsigned len;
    return a ? (unsigned)strtoul(LLVMGetStringAttributeValue(a, &len), NULL, 10) : ~0u;
}

bool raise_may_pass_on_stack(LLVMValueRef call) {
    return LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, on_stack, (unsigned)strlen(on_stack));
}

/* Arguments come to lie on the stack when no register is left for them, and if they are a long double. `name` is the function's of the
 * C library, if it is one. */
static bool may_pass_on_stack(const Rewriter *w, const Event *e, const char *name) {
    const CallAbi *abi = &w->r->isa->abi;
    if (raise_is_in_registers(name))
        return false;
    return w->f->uses_rest || regset_has(&e->available, abi->int_args[abi->int_arg_count - 1]) ||
           regset_has(&e->available, abi->float_args[abi->float_arg_count - 1]);
}

void rewrite_say_stack(Rewriter *w, LLVMValueRef call, unsigned operand) {
    say(w->r, call, stack_operand, operand);
}

void rewrite_say_native(Rewriter *w, LLVMValueRef call, const Event *e, const char *name) {
    if (may_pass_on_stack(w, e, name))
        say(w->r, call, on_stack, 1);
}
