/* join.c: see join.h. */
#include "tool/join.h"

#include <stdio.h>

#include "tool/counter.h"
#include "tool/hook.h"
#include "tool/package.h"

enum { NAME_BYTES = 160 };

/* -------------------------------------------------------------------------------------------------------------- names */

static void set_apart(LLVMValueRef value, u32 number) {
    char name[NAME_BYTES];
    size_t len;
    const char *old = LLVMGetValueName2(value, &len);
    if (LLVMIsDeclaration(value) || !strncmp(old, "llvm.", 5))
        return;
    snprintf(name, sizeof(name), "%s%u.%s", LLVMIsAFunction(value) ? TOOL_PREFIX : TOOL_DATA_PREFIX, number, old);
    LLVMSetValueName2(value, name, strlen(name));
    LLVMSetLinkage(value, LLVMExternalLinkage);
    LLVMSetVisibility(value, LLVMHiddenVisibility);
}

void tool_set_apart(LLVMModuleRef mod, u32 number) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(mod); g; g = LLVMGetNextGlobal(g))
        set_apart(g, number);
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f))
        set_apart(f, number);
}

static LLVMValueRef hooks_of(LLVMModuleRef mod, u32 number) {
    char name[NAME_BYTES];
    snprintf(name, sizeof(name), TOOL_DATA_PREFIX "%u." TOOL_HOOKS, number);
    return LLVMGetNamedGlobal(mod, name);
}

/* -------------------------------------------------------------------------------------------------------------- hooks */

enum { MEMBERS_MOST = 16 };

static LLVMTypeRef type_of_member(LLVMTypeRef type, u32 index) {
    bool is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;
    return is_struct ? LLVMStructGetTypeAtIndex(type, index) : LLVMGetElementType(type);
}

static LLVMValueRef whole(LLVMTypeRef type, LLVMValueRef *members, u32 count) {
    bool is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;
    return is_struct ? LLVMConstNamedStruct(type, members, count)
                     : LLVMConstArray2(LLVMGetElementType(type), members, count);
}

/* The same constant in a type of another module that is declared likewise. */
static LLVMValueRef retyped(LLVMValueRef constant, LLVMTypeRef type) {
    LLVMValueRef members[MEMBERS_MOST];
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind)
        return constant;
    u32 count = kind == LLVMStructTypeKind ? LLVMCountStructElementTypes(type) : (u32)LLVMGetArrayLength2(type);
    CHECK(count <= MEMBERS_MOST, "hooks are small");
    for (u32 i = 0; i < count; i++)
        members[i] = retyped(LLVMGetAggregateElement(constant, i), type_of_member(type, i));
    return whole(type, members, count);
}

/* A value LATHE_THREAD_OWN says where in the thread's words those of its tool are, and LATHE_COUNTED which counter it is about. */
static LLVMValueRef value_for(LLVMValueRef value, u32 tool) {
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef what = LLVMGetAggregateElement(value, VALUE_WHAT);
    u64 kind = LLVMConstIntGetZExtValue(what), number = (u64)tool * LATHE_OWN_WORDS * sizeof(u64);
    if (kind != LATHE_THREAD_OWN && kind != LATHE_COUNTED)
        return value;
    if (kind == LATHE_COUNTED)
        number = tool_counter_number(tool_counter_of_value(LLVMGetAggregateElement(value, VALUE_NUMBER)));
    LLVMValueRef members[] = {what, LLVMConstInt(LLVMStructGetTypeAtIndex(type, VALUE_NUMBER), number, false)};
    return whole(type, members, VALUE_MEMBERS);
}

static LLVMValueRef hook_for(LLVMValueRef hook, LLVMTypeRef type, u32 tool) {
    LLVMValueRef members[HOOK_MEMBERS], values[LATHE_VALUES], same = retyped(hook, type);
    for (u32 i = 0; i < HOOK_MEMBERS; i++)
        members[i] = LLVMGetAggregateElement(same, i);
    for (u32 i = 0; i < LATHE_VALUES; i++)
        values[i] = value_for(LLVMGetAggregateElement(members[HOOK_VALUES], i), tool);
    members[HOOK_VALUES] = whole(LLVMStructGetTypeAtIndex(type, HOOK_VALUES), values, LATHE_VALUES);
    return whole(type, members, HOOK_MEMBERS);
}

static bool is_last(LLVMValueRef hook) {
    return LLVMConstIntGetZExtValue(LLVMGetAggregateElement(hook, HOOK_EVENT)) == LATHE_NOTHING;
}

void tool_join_hooks(LLVMModuleRef mod, u32 tools) {
    LLVMValueRef all[TOOL_HOOKS_MAX + 1], hook = NULL;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetAggregateElement(LLVMGetInitializer(hooks_of(mod, 1)), 0));
    u32 count = 0;
    for (u32 tool = 0; tool < tools; tool++) {
        LLVMValueRef own = hooks_of(mod, tool + 1), list = LLVMGetInitializer(own);
        for (u32 i = 0; hook = LLVMGetAggregateElement(list, i), !is_last(hook); i++)
            all[count++] = hook_for(hook, type, tool);
        all[count] = retyped(hook, type);
        LLVMDeleteGlobal(own);
    }
    LLVMValueRef hooks = LLVMAddGlobal(mod, LLVMArrayType2(type, count + 1), TOOL_HOOKS);
    LLVMSetInitializer(hooks, LLVMConstArray2(type, all, count + 1));
    LLVMSetGlobalConstant(hooks, true);
    LLVMSetVisibility(hooks, LLVMHiddenVisibility);
}
