/* keep.c: see keep.h.
 *
 * A version of a hook's function has its code, so that it saves no more than it changes. One of any other function calls it: such a call is rare. */
#include "tool/keep.h"

#include <llvm-c/Transforms/PassBuilder.h>

#include "tool/hook.h"

static LLVMValueRef keeping(LLVMModuleRef mod, LLVMValueRef function) {
    char name[TOOL_KEEP_NAME];
    tool_keep_name(name, function);
    return LLVMGetNamedFunction(mod, name);
}

static LLVMValueRef call_of(LLVMValueRef version) {
    LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(version));
    while (i && !LLVMIsACallInst(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

static void add_version(LLVMModuleRef mod, LLVMValueRef function) {
    char name[TOOL_KEEP_NAME];
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    LLVMTypeRef type = LLVMGlobalGetValueType(function);
    LLVMValueRef args[LATHE_VALUES];
    tool_keep_name(name, function);
    LLVMValueRef version = LLVMAddFunction(mod, name, type);
    LLVMSetFunctionCallConv(version, LLVMPreserveMostCallConv);
    LLVMSetVisibility(version, LLVMHiddenVisibility);
    LLVMGetParams(version, args);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(ctx);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(ctx, version, ""));
    LLVMValueRef result = LLVMBuildCall2(b, type, function, args, LLVMCountParams(version), "");
    LLVMSetInstructionCallConv(result, LLVMGetFunctionCallConv(function));
    if (LLVMGetReturnType(type) == LLVMVoidTypeInContext(ctx))
        LLVMBuildRetVoid(b);
    else
        LLVMBuildRet(b, result);
    LLVMDisposeBuilder(b);
}

static void add_versions(LLVMModuleRef mod) {
    LLVMValueRef last = LLVMGetLastFunction(mod);
    for (LLVMValueRef f = LLVMGetFirstFunction(mod), next; f; f = next) {
        next = f == last ? NULL : LLVMGetNextFunction(f);
        if (!LLVMIsDeclaration(f) && tool_can_keep(f))
            add_version(mod, f);
    }
}

/* NULL: there is none. */
static LLVMValueRef variant_of(LLVMModuleRef mod, LLVMValueRef function, u32 bytes) {
    char name[TOOL_VARIANT_NAME];
    size_t len;
    tool_variant_name(name, LLVMGetValueName2(function, &len), bytes);
    return LLVMGetNamedFunction(mod, name);
}

static void inline_into_version(LLVMModuleRef mod, LLVMValueRef function, LLVMAttributeRef always) {
    LLVMValueRef version = function ? keeping(mod, function) : NULL;
    LLVMValueRef call = version ? call_of(version) : NULL;
    if (call && LLVMGetCalledValue(call) == function)
        LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, always);
}

/* The versions of hooks' functions get the functions' code. */
static void inline_hooks(LLVMModuleRef mod) {
    u32 kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    LLVMAttributeRef always = LLVMCreateEnumAttribute(LLVMGetModuleContext(mod), kind, 0);
    LLVMValueRef list = LLVMGetInitializer(LLVMGetNamedGlobal(mod, TOOL_HOOKS));
    for (u32 i = 0; i < LLVMGetArrayLength2(LLVMTypeOf(list)); i++) {
        LLVMValueRef function = LLVMGetAggregateElement(LLVMGetAggregateElement(list, i), HOOK_CALL);
        if (!function || !LLVMIsAFunction(function))
            continue;
        inline_into_version(mod, function, always);
        for (u32 n = 1; n <= TOOL_VARIANT_MOST; n *= 2)
            inline_into_version(mod, variant_of(mod, function, n), always);
    }
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(mod, "always-inline", NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (error)
        LLVMConsumeError(error);
}

/* What it calls in turn keeps registers as well, so that it need not save them. */
static void redirect_calls(LLVMModuleRef mod, LLVMValueRef version) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(version); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef called = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            LLVMValueRef other = called && LLVMIsAFunction(called) ? keeping(mod, called) : NULL;
            if (!other)
                continue;
            LLVMSetOperand(i, LLVMGetNumOperands(i) - 1, other);
            LLVMSetInstructionCallConv(i, LLVMPreserveMostCallConv);
        }
}

/* Those that are only a call are left alone. */
static void redirect_all(LLVMModuleRef mod) {
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f)) {
        LLVMValueRef call =
            !LLVMIsDeclaration(f) && LLVMGetFunctionCallConv(f) == LLVMPreserveMostCallConv ? call_of(f) : NULL;
        LLVMValueRef called = call ? LLVMGetCalledValue(call) : NULL;
        if (LLVMGetFunctionCallConv(f) == LLVMPreserveMostCallConv &&
            !(called && LLVMIsAFunction(called) && keeping(mod, called) == f))
            redirect_calls(mod, f);
    }
}

void tool_add_keeping(LLVMModuleRef mod) {
    add_versions(mod);
    inline_hooks(mod);
    redirect_all(mod);
}
