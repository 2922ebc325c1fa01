/* native.c: what lies between native code and raised functions, in the module.
 *
 * Native code enters a function at its old address, where the program has a jump to its entry; that leads through the host's
 * assembly to the function's bridge, which takes the arguments from the guest state and puts the results there. */
#include <llvm-c/Core.h>
#include <stdio.h>

#include "raise/raise.h"

static LLVMValueRef place(Raise *r, LLVMBuilderRef b, LLVMValueRef cpu, Reg reg) {
    LLVMValueRef off = LLVMConstInt(LLVMInt64TypeInContext(r->ctx), r->isa->regs[reg].off_bytes, false);
    return LLVMBuildGEP2(b, LLVMInt8TypeInContext(r->ctx), cpu, &off, 1, "");
}

static void build_bridge(Raise *r, LLVMBuilderRef b, const RaiseFunction *f, LLVMValueRef cpu) {
    LLVMValueRef args[REG_MAX + 1];
    unsigned count = 0, result = 0;
    for (Reg reg = 0; reg < r->isa->reg_count; reg++)
        if (regset_has(&f->taken, reg))
            args[count++] = LLVMBuildLoad2(b, raise_reg_type(r, reg), place(r, b, cpu, reg), "");
    args[count++] = cpu;
    LLVMValueRef call = LLVMBuildCall2(b, f->type, f->raised, args, count, "");
    LLVMSetInstructionCallConv(call, r->host->convention.cc);
    for (Reg reg = 0; reg < r->isa->reg_count; reg++)
        if (regset_has(&f->given, reg))
            LLVMBuildStore(b, LLVMBuildExtractValue(b, call, result++, ""), place(r, b, cpu, reg));
    LLVMBuildRetVoid(b);
}

static void add_bridge(Raise *r, const RaiseFunction *f) {
    char name[64];
    snprintf(name, sizeof(name), RAISE_BRIDGE, f->pc);
    LLVMTypeRef ptr = LLVMPointerTypeInContext(r->ctx, 0);
    LLVMValueRef fn = LLVMAddFunction(r->mod, name, LLVMFunctionType(LLVMVoidTypeInContext(r->ctx), &ptr, 1, false));
    unsigned kind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(r->ctx, kind, 0));
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->ctx);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(r->ctx, fn, ""));
    build_bridge(r, b, f, LLVMGetParam(fn, 0));
    LLVMDisposeBuilder(b);
}

static void add_entry(Raise *r, const RaiseFunction *f) {
    char entry[64], bridge[64], text[512];
    snprintf(entry, sizeof(entry), RAISE_ENTRY, f->pc);
    snprintf(bridge, sizeof(bridge), RAISE_BRIDGE, f->pc);
    int len = snprintf(text, sizeof(text), r->host->raise->entry, entry, entry, bridge);
    LLVMAppendModuleInlineAsm(r->mod, text, (size_t)len);
}

/* What is the image's and the runtime's is near: no table of addresses is needed. */
static void hide(Raise *r) {
    LLVMValueRef image = LLVMGetNamedGlobal(r->mod, RAISE_IMAGE);
    if (image)
        LLVMSetVisibility(image, LLVMHiddenVisibility);
    for (LLVMValueRef f = LLVMGetFirstFunction(r->mod); f; f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) && !LLVMGetIntrinsicID(f))
            LLVMSetVisibility(f, LLVMHiddenVisibility);
}

void raise_add_native(Raise *r) {
    char *text =
        r->host->raise->runtime(raise_thread_offset(r), r->extent.start, r->extent.end - r->extent.start, r->uses_rest);
    LLVMAppendModuleInlineAsm(r->mod, text, strlen(text));
    mem_free(text);
    for (size_t i = 0; i < r->functions.len; i++) {
        const RaiseFunction *f = &r->functions.at[i];
        if (!f->native || !f->raised)
            continue;
        add_bridge(r, f);
        add_entry(r, f);
        r->counts.native++;
    }
    hide(r);
}
