/* counter.h: counters of a tool in its LLVM-IR. */
#ifndef TOOL_COUNTER_H
#define TOOL_COUNTER_H

#include <llvm-c/Core.h>

#include "base/base.h"

#define TOOL_COUNT_FUNCTION "lathe_count"

/* LLVM may have put a number behind the name of a type. */
static inline bool tool_is_counter_type(LLVMTypeRef type) {
    static const char wanted[] = "struct.LatheCounter";
    const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
    return name && !strncmp(name, wanted, sizeof(wanted) - 1) &&
           (!name[sizeof(wanted) - 1] || name[sizeof(wanted) - 1] == '.');
}

static inline bool tool_is_counter(LLVMValueRef global) {
    return tool_is_counter_type(LLVMGlobalGetValueType(global));
}

/* Once it has one. */
static inline u32 tool_counter_number(LLVMValueRef counter) {
    return (u32)LLVMConstIntGetZExtValue(LLVMGetAggregateElement(LLVMGetInitializer(counter), 0));
}

/* A call lathe_count(&counter, amount) of a counter that is a variable. */
static inline bool tool_counts_at(LLVMValueRef insn) {
    size_t len;
    if (!LLVMIsACallInst(insn) || LLVMGetNumArgOperands(insn) != 2 || !LLVMIsAFunction(LLVMGetCalledValue(insn)))
        return false;
    LLVMValueRef counter = LLVMGetOperand(insn, 0);
    return !strcmp(LLVMGetValueName2(LLVMGetCalledValue(insn), &len), TOOL_COUNT_FUNCTION) &&
           LLVMIsAGlobalVariable(counter) && tool_is_counter(counter);
}

#endif
