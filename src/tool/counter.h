/* counter.h: counters of a tool, and tables of them, in its LLVM-IR. */
#ifndef TOOL_COUNTER_H
#define TOOL_COUNTER_H

#include <llvm-c/Core.h>

#include "base/base.h"

#define TOOL_COUNT_FUNCTION "lathe_count"
#define TOOL_COUNT_IN_FUNCTION "lathe_count_in"
#define TOOL_NEXT_FUNCTION "lathe_table_next"

/* LLVM may have put a number behind the name of a type. */
static inline bool tool_is_type(LLVMTypeRef type, const char *wanted) {
    size_t len = strlen(wanted);
    const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
    return name && !strncmp(name, wanted, len) && (!name[len] || name[len] == '.');
}

static inline bool tool_is_counter_type(LLVMTypeRef type) {
    return tool_is_type(type, "struct.LatheCounter");
}

static inline bool tool_is_table_type(LLVMTypeRef type) {
    return tool_is_type(type, "struct.LatheTable");
}

static inline bool tool_is_counter(LLVMValueRef global) {
    return tool_is_counter_type(LLVMGlobalGetValueType(global));
}

/* The counter whose address a value LATHE_COUNTED has; NULL: it has none. */
static inline LLVMValueRef tool_counter_of_value(LLVMValueRef number) {
    bool is_address = LLVMIsAConstantExpr(number) && LLVMGetConstOpcode(number) == LLVMPtrToInt;
    LLVMValueRef variable = is_address ? LLVMGetOperand(number, 0) : NULL;
    return variable && LLVMIsAGlobalVariable(variable) && tool_is_counter(variable) ? variable : NULL;
}

/* Once it has one. */
static inline u32 tool_counter_number(LLVMValueRef counter) {
    return (u32)LLVMConstIntGetZExtValue(LLVMGetAggregateElement(LLVMGetInitializer(counter), 0));
}

static inline bool tool_is_call(LLVMValueRef insn, const char *function, u32 arguments) {
    size_t len;
    return LLVMIsACallInst(insn) && LLVMGetNumArgOperands(insn) == arguments &&
           LLVMIsAFunction(LLVMGetCalledValue(insn)) &&
           !strcmp(LLVMGetValueName2(LLVMGetCalledValue(insn), &len), function);
}

/* A call lathe_count(&counter, amount) of a counter that is a variable. */
static inline bool tool_counts_at(LLVMValueRef insn) {
    if (!tool_is_call(insn, TOOL_COUNT_FUNCTION, 2))
        return false;
    LLVMValueRef counter = LLVMGetOperand(insn, 0);
    return LLVMIsAGlobalVariable(counter) && tool_is_counter(counter);
}

/* A call lathe_count_in(&table, key, key, key, amount) of a table that is a variable. */
static inline bool tool_counts_in_table_at(LLVMValueRef insn) {
    if (!tool_is_call(insn, TOOL_COUNT_IN_FUNCTION, 5))
        return false;
    LLVMValueRef table = LLVMGetOperand(insn, 0);
    return LLVMIsAGlobalVariable(table) && tool_is_table_type(LLVMGlobalGetValueType(table));
}

#endif
