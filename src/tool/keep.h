/* keep.h: functions of a tool that keep their caller's registers.
 *
 * What LLVM makes of the program calls functions of the tool: rare parts of functions that are inlined, and functions that are too large for that. C's convention would cost it all
 * registers that C does not keep, on the common way, too. So the object of a tool has a second version of each function, which keeps all of them but r11 and the one with
 * the result (LLVM's preserve_most). No code of tools changes vector registers, so for a caller it is preserve_all. */
#ifndef TOOL_KEEP_H
#define TOOL_KEEP_H

#include <llvm-c/Core.h>

#include "base/base.h"
#include "tool/package.h"

enum { TOOL_KEEP_NAME = 200 };

static inline bool tool_is_word(LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMPointerTypeKind || (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64);
}

/* Has the function such a version? All that it is given is in registers. */
static inline bool tool_can_keep(LLVMValueRef function) {
    enum { WORDS = 6 };
    LLVMTypeRef type = LLVMGlobalGetValueType(function), result = LLVMGetReturnType(type), types[WORDS];
    size_t len;
    u32 count = LLVMCountParamTypes(type);
    if (LLVMIsFunctionVarArg(type) || count > WORDS ||
        strncmp(LLVMGetValueName2(function, &len), TOOL_PREFIX, strlen(TOOL_PREFIX)))
        return false;
    LLVMGetParamTypes(type, types);
    for (u32 i = 0; i < count; i++)
        if (!tool_is_word(types[i]))
            return false;
    return LLVMGetTypeKind(result) == LLVMVoidTypeKind || tool_is_word(result);
}

static inline void tool_keep_name(char name[TOOL_KEEP_NAME], LLVMValueRef function) {
    size_t len;
    const char *own = LLVMGetValueName2(function, &len);
    len = len < TOOL_KEEP_NAME - sizeof(TOOL_KEEPS) ? len : TOOL_KEEP_NAME - sizeof(TOOL_KEEPS);
    memcpy(name, own, len);
    memcpy(name + len, TOOL_KEEPS, sizeof(TOOL_KEEPS));
}

/* Adds these versions to a module with all functions of a tool, for its object. */
void tool_add_keeping(LLVMModuleRef mod);

#endif
