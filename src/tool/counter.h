/* counter.h: counters of a tool in its LLVM-IR. */
#ifndef TOOL_COUNTER_H
#define TOOL_COUNTER_H

#include <llvm-c/Core.h>

#include "base/base.h"

#define TOOL_COUNT_FUNCTION "lathe_count"

static inline bool tool_is_counter(LLVMValueRef global) {
    static const char type_name[] = "struct.LatheCounter";
    LLVMTypeRef type = LLVMGlobalGetValueType(global);
    const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
    return name && !strncmp(name, type_name, sizeof(type_name) - 1); /* LLVM may have put a number behind it */
}

/* Once it has one. */
static inline u32 tool_counter_number(LLVMValueRef counter) {
    return (u32)LLVMConstIntGetZExtValue(LLVMGetAggregateElement(LLVMGetInitializer(counter), 0));
}

#endif
