/* check.c: see check.h. */
#include "tool/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "tool/counter.h"
#include "tool/hook.h"
#include "tool/package.h"

enum { SYSCALL_ARGUMENTS = 6, REGISTERS_MOST = 32 }; /* a guest may have fewer registers than that */

/* What is looked at, and where the sentence about it goes. */
typedef struct Checked {
    LLVMValueRef hook;
    u32 number;
    char *why;
    size_t why_size;
} Checked;

__attribute__((format(printf, 2, 3))) static bool wrong(const Checked *c, const char *format, ...) {
    va_list args;
    size_t len = c->number ? (size_t)snprintf(c->why, c->why_size, "hook %u: ", c->number) : 0;
    va_start(args, format);
    vsnprintf(c->why + len, c->why_size - len, format, args);
    va_end(args);
    return false;
}

/* --------------------------------------------------------------------------------------------------------------- values */

static const char *const event_names[LATHE_EVENTS] = {
#define EVENT(event) [event] = #event,
#include "tool/events.def"
#undef EVENT
};
_Static_assert(LATHE_EVENTS < 32, "sets of events are 32 bits");

#define E(event) (1u << LATHE_##event)
enum {
    E_ACCESSES = E(LOAD) | E(STORE) | E(LOADED) | E(STORED),
    E_TRANSFERS = E(BRANCH) | E(JUMP) | E(GOTO) | E(CALL) | E(RETURN),
    E_INSNS = E(INSN) | E(INSN_DONE) | E_ACCESSES | E_TRANSFERS | E(BLOCK) | E(FUNCTION),
    E_LATER = E(INSN_DONE) | E(LOADED) | E(STORED),
    E_SYSCALLS = E(SYSCALL) | E(SYSCALL_DONE),
    E_MODULES = E(MODULE) | E(MODULE_END),
    E_ALL = (1u << LATHE_EVENTS) - 1,
};

typedef enum When { LATER, AHEAD } When;

typedef struct ValueRow {
    const char *name;
    When when;
    u32 events;
} ValueRow;

static const ValueRow rows[] = {
    [LATHE_NO_VALUE] = {"LATHE_NO_VALUE", LATER, 0},
#define VALUE(value, when, events) [value] = {#value, when, events},
#include "tool/values.def"
#undef VALUE
};

bool tool_is_known_ahead(u64 what) {
    return what < ARRAY_LEN(rows) && rows[what].when == AHEAD;
}

/* How many numbers a value can have with it; 0: it has none. LATHE_CONSTANT has any. */
static u64 numbers_of(LatheWhat what) {
    return what == LATHE_ARGUMENT ? SYSCALL_ARGUMENTS : what == LATHE_REGISTER ? REGISTERS_MOST : 0;
}

static bool check_number(const Checked *c, LatheWhat what, i64 number) {
    u64 numbers = numbers_of(what);
    if (what == LATHE_CONSTANT || (u64)number < numbers || (!number && !numbers))
        return true;
    if (!numbers)
        return wrong(c, "%s has no number; each value has braces of its own: {%s}", rows[what].name, rows[what].name);
    return wrong(c, "{%s, %ld}: the number is from 0 to %lu", rows[what].name, (long)number,
                 (unsigned long)numbers - 1);
}

static bool check_value(const Checked *c, LatheEvent event, LLVMValueRef value) {
    LLVMValueRef what = LLVMGetAggregateElement(value, VALUE_WHAT);
    LLVMValueRef number = LLVMGetAggregateElement(value, VALUE_NUMBER);
    u64 kind = LLVMIsAConstantInt(what) ? LLVMConstIntGetZExtValue(what) : LATHE_NO_VALUE;
    if (!LLVMIsAConstantInt(what) || (kind != LATHE_COUNTED && !LLVMIsAConstantInt(number)))
        return wrong(c, "a value is no constant");
    if (kind >= ARRAY_LEN(rows))
        return wrong(c, "there is no value %lu", (unsigned long)kind);
    if (!(rows[kind].events >> event & 1))
        return wrong(c, "%s is not known at %s", rows[kind].name, event_names[event]);
    if (kind == LATHE_COUNTED && !tool_counter_of_value(number))
        return wrong(
            c, "LATHE_COUNTED has the address of a variable that is a LatheCounter: {LATHE_COUNTED, (long)&counter}");
    return kind == LATHE_COUNTED || check_number(c, (LatheWhat)kind, LLVMConstIntGetSExtValue(number));
}

/* All up to the last one that is given. */
static u32 count_values(LLVMValueRef values) {
    u32 count = LATHE_VALUES;
    while (count && LLVMIsNull(LLVMGetAggregateElement(values, count - 1)))
        count--;
    return count;
}

/* ------------------------------------------------------------------------------------------------------------- functions */

static const char *name_of(LLVMValueRef value) {
    size_t len;
    return LLVMGetValueName2(value, &len);
}

/* A value is 64 bits in a register for integers. */
static bool check_function(const Checked *c, LLVMValueRef function, u32 values) {
    LLVMTypeRef type = LLVMGlobalGetValueType(function), types[LATHE_VALUES];
    u32 count = LLVMCountParamTypes(type);
    if (count != values || LLVMIsFunctionVarArg(type))
        return wrong(c, "%s takes %u value%s, the hook has %u", name_of(function), count, count == 1 ? "" : "s",
                     values);
    LLVMGetParamTypes(type, types);
    for (u32 i = 0; i < count; i++) {
        bool is_integer = LLVMGetTypeKind(types[i]) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(types[i]) <= 64;
        if (!is_integer && LLVMGetTypeKind(types[i]) != LLVMPointerTypeKind)
            return wrong(c, "parameter %u of %s is neither an integer nor a pointer", i + 1, name_of(function));
    }
    return true;
}

static bool is_given(const Checked *c, u32 member) {
    return !LLVMIsNull(LLVMGetAggregateElement(LLVMGetAggregateElement(c->hook, HOOK_WHERE), member));
}

/* Is the name of an option a text that fits into a ToolCondition? */
static bool check_option(const Checked *c, u32 member) {
    LLVMValueRef pointer = LLVMGetAggregateElement(LLVMGetAggregateElement(c->hook, HOOK_WHERE), member);
    LLVMValueRef text = LLVMIsAGlobalVariable(pointer) ? LLVMGetInitializer(pointer) : NULL;
    bool good = text && LLVMIsConstantString(text) && LLVMGetArrayLength2(LLVMTypeOf(text)) <= TOOL_OPTION_NAME;
    return !is_given(c, member) || good ||
           wrong(c, "the name of an option is a text of at most %d characters", TOOL_OPTION_NAME - 1);
}

/* Filters are about instructions. */
static bool check_filter(const Checked *c, LatheEvent event) {
    bool filters = !LLVMIsNull(LLVMGetAggregateElement(c->hook, HOOK_WHERE));
    if (is_given(c, WHERE_NOT_STACK) && !((u32)E_ACCESSES >> event & 1))
        return wrong(c, "not_stack at %s, which is no access", event_names[event]);
    if (is_given(c, WHERE_LEAVES) && event != LATHE_BRANCH && event != LATHE_GOTO)
        return wrong(c, "leaves at %s, which is neither LATHE_BRANCH nor LATHE_GOTO", event_names[event]);
    if (filters && !((u32)E_INSNS >> event & 1))
        return wrong(c, "LATHE_WHERE at %s, which is not about an instruction", event_names[event]);
    if (is_given(c, WHERE_ONCE) && (u32)E_LATER >> event & 1)
        return wrong(c, "once at %s, which comes behind an instruction", event_names[event]);
    return check_option(c, WHERE_OPTION) && check_option(c, WHERE_UNLESS);
}

bool tool_check_hook(LLVMValueRef hook, u32 number, char *why, size_t why_size) {
    Checked c = {hook, number, why, why_size};
    u64 event = LLVMConstIntGetZExtValue(LLVMGetAggregateElement(hook, HOOK_EVENT));
    if (event >= LATHE_EVENTS)
        return wrong(&c, "there is no event %lu", (unsigned long)event);
    LLVMValueRef values = LLVMGetAggregateElement(hook, HOOK_VALUES);
    u32 count = count_values(values);
    for (u32 i = 0; i < count; i++)
        if (!check_value(&c, (LatheEvent)event, LLVMGetAggregateElement(values, i)))
            return false;
    return check_function(&c, LLVMGetAggregateElement(hook, HOOK_CALL), count) && check_filter(&c, (LatheEvent)event);
}

/* ------------------------------------------------------------------------------------------------------------------ uses */

/* LLVM's own names are no functions. */
static bool is_known(const char *name) {
#define FUNCTION(name) #name,
    static const char *const functions[] = {
#include "tool/functions.def"
    };
#undef FUNCTION
    for (u32 i = 0; i < ARRAY_LEN(functions); i++)
        if (!strcmp(functions[i], name))
            return true;
    return !strncmp(name, "llvm.", 5);
}

static bool check_name(const Checked *c, LLVMValueRef value) {
    if (!LLVMIsDeclaration(value) || !LLVMGetFirstUse(value) || is_known(name_of(value)))
        return true;
    return wrong(c, "it uses %s, which lathe/tool.h does not have", name_of(value));
}

/* A counter on the stack has no number. */
static bool check_counter(const Checked *c, LLVMValueRef call, const char *function) {
    if (!LLVMIsACallInst(call) || strcmp(name_of(LLVMGetCalledValue(call)), function))
        return true;
    LLVMValueRef counter = LLVMGetOperand(call, 0);
    while (LLVMIsAGetElementPtrInst(counter))
        counter = LLVMGetOperand(counter, 0);
    bool is_table = !strcmp(function, TOOL_COUNT_IN_FUNCTION) || !strcmp(function, TOOL_NEXT_FUNCTION);
    const char *what = is_table ? "LatheTable" : "LatheCounter";
    const char *rest = is_table ? "" : ", or an element of an array that is one";
    return !LLVMIsAAllocaInst(counter) ||
           wrong(c, "%s of a %s on the stack; it is a global variable%s", function, what, rest);
}

static bool check_counters(const Checked *c, LLVMModuleRef mod, const char *name) {
    LLVMValueRef function = LLVMGetNamedFunction(mod, name);
    for (LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL; use; use = LLVMGetNextUse(use))
        if (!check_counter(c, LLVMGetUser(use), name))
            return false;
    return true;
}

bool tool_check_uses(LLVMModuleRef mod, char *why, size_t why_size) {
    Checked c = {.why = why, .why_size = why_size};
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f))
        if (!check_name(&c, f))
            return false;
    for (LLVMValueRef g = LLVMGetFirstGlobal(mod); g; g = LLVMGetNextGlobal(g))
        if (!check_name(&c, g))
            return false;
    return check_counters(&c, mod, TOOL_COUNT_FUNCTION) && check_counters(&c, mod, "lathe_total") &&
           check_counters(&c, mod, TOOL_COUNT_IN_FUNCTION) && check_counters(&c, mod, TOOL_NEXT_FUNCTION);
}
