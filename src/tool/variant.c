/* variant.c: see variant.h. */
#include "tool/variant.h"

#include "tool/hook.h"

static void copy_attributes(LLVMValueRef from, LLVMValueRef to) {
    enum { MOST = 64 };
    LLVMAttributeRef all[MOST];
    u32 count = LLVMGetAttributeCountAtIndex(from, LLVMAttributeFunctionIndex);
    if (count > MOST)
        return;
    LLVMGetAttributesAtIndex(from, LLVMAttributeFunctionIndex, all);
    for (u32 i = 0; i < count; i++)
        LLVMAddAttributeAtIndex(to, LLVMAttributeFunctionIndex, all[i]);
}

/* A function that does the same as another one with a constant as one of its arguments, and has it inlined. */
static void add_variant(LLVMModuleRef mod, LLVMValueRef function, u32 argument, u32 constant) {
    char name[TOOL_VARIANT_NAME];
    size_t len;
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    tool_variant_name(name, LLVMGetValueName2(function, &len), constant);
    LLVMTypeRef type = LLVMGlobalGetValueType(function), types[LATHE_VALUES];
    LLVMValueRef args[LATHE_VALUES];
    u32 count = LLVMCountParamTypes(type);
    if (argument >= count || count > LATHE_VALUES || LLVMGetNamedFunction(mod, name))
        return;
    LLVMGetParamTypes(type, types);
    if (LLVMGetTypeKind(types[argument]) != LLVMIntegerTypeKind ||
        LLVMGetReturnType(type) != LLVMVoidTypeInContext(ctx))
        return;
    LLVMValueRef variant = LLVMAddFunction(mod, name, type);
    copy_attributes(function, variant);
    LLVMSetVisibility(variant, LLVMHiddenVisibility);
    LLVMGetParams(variant, args);
    args[argument] = LLVMConstInt(types[argument], constant, false);
    LLVMBuilderRef at = LLVMCreateBuilderInContext(ctx);
    LLVMPositionBuilderAtEnd(at, LLVMAppendBasicBlockInContext(ctx, variant, ""));
    LLVMValueRef call = LLVMBuildCall2(at, type, function, args, count, "");
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function));
    u32 kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(ctx, kind, 0));
    LLVMBuildRetVoid(at);
    LLVMDisposeBuilder(at);
}

/* Functions at accesses that are told how many bytes these have, for the usual numbers. */
void tool_add_variants(LLVMModuleRef mod) {
    LLVMValueRef list = LLVMGetInitializer(LLVMGetNamedGlobal(mod, TOOL_HOOKS));
    for (u32 i = 0; i < LLVMGetArrayLength2(LLVMTypeOf(list)); i++) {
        LLVMValueRef hook = LLVMGetAggregateElement(list, i), values = LLVMGetAggregateElement(hook, HOOK_VALUES);
        u64 event = LLVMConstIntGetZExtValue(LLVMGetAggregateElement(hook, HOOK_EVENT));
        for (u32 k = 0; (event == LATHE_LOAD || event == LATHE_STORE) && k < LATHE_VALUES; k++) {
            LLVMValueRef what = LLVMGetAggregateElement(LLVMGetAggregateElement(values, k), 0);
            for (u32 n = 1; n <= TOOL_VARIANT_MOST && LLVMConstIntGetZExtValue(what) == LATHE_BYTES; n *= 2)
                add_variant(mod, LLVMGetAggregateElement(hook, HOOK_CALL), k, n);
        }
    }
}
