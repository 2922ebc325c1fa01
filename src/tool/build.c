/* build.c: see build.h. Reads the hooks of tools from their bitcode, numbers their counters, and finds out what the functions of their hooks do. */
#include "tool/build.h"

#include <lathe/lift.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>

#include "cache/pack.h"
#include "tool/check.h"
#include "tool/copies.h"
#include "tool/counter.h"
#include "tool/functions.h"
#include "tool/hook.h"
#include "tool/join.h"
#include "tool/keep.h"
#include "tool/package.h"
#include "tool/variant.h"

enum { WHY_BYTES = 512 };

typedef struct Building {
    LLVMContextRef ctx;
    LLVMModuleRef mod; /* of the tool that is looked at; at last, that of all */
    LLVMModuleRef all; /* of those before it; NULL: there are none */
    const char *source;
    u32 tool; /* its number, from 1 on */
    ToolPackage package;
    const ToolInputs *inputs;
    ToolPlan plan[TOOL_HOOKS_MAX];
    char *why;
    size_t why_size;
} Building;

static bool fail(Building *b, const char *why) {
    snprintf(b->why, b->why_size, "%s: %s", b->source, why);
    return false;
}

/* ----------------------------------------------------------------------------------------------------------- counters */

static LLVMValueRef next_counter(Building *b, LLVMTypeRef type) {
    LLVMValueRef number = LLVMConstInt(LLVMInt64TypeInContext(b->ctx), b->package.counter_count++, false);
    return LLVMConstNamedStruct(type, &number, 1);
}

/* The numbers of all elements of an array of counters. */
static LLVMValueRef next_counters(Building *b, LLVMTypeRef type, u64 count) {
    LLVMValueRef *each = mem_new(count * sizeof(*each) + 1);
    for (u64 i = 0; i < count; i++)
        each[i] = next_counter(b, type);
    LLVMValueRef all = LLVMConstArray2(type, each, count);
    mem_free(each);
    return all;
}

/* A table is numbered likewise. */
static bool number_table(Building *b, LLVMValueRef g) {
    if (b->package.table_count == TOOL_TABLES_MAX)
        return fail(b, "it has too many tables");
    LLVMValueRef number = LLVMConstInt(LLVMInt64TypeInContext(b->ctx), b->package.table_count++, false);
    LLVMSetInitializer(g, LLVMConstNamedStruct(LLVMGlobalGetValueType(g), &number, 1));
    return true;
}

/* Is there a table in an array or in a structure? */
static bool hides_table(LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) == LLVMArrayTypeKind)
        return hides_table(LLVMGetElementType(type)) || tool_is_table_type(LLVMGetElementType(type));
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind || tool_is_table_type(type))
        return false;
    for (u32 i = 0; i < LLVMCountStructElementTypes(type); i++)
        if (tool_is_table_type(LLVMStructGetTypeAtIndex(type, i)) || hides_table(LLVMStructGetTypeAtIndex(type, i)))
            return true;
    return false;
}

/* Is there a counter somewhere in a type that is neither a counter nor an array of them? */
static bool hides_counter(LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) == LLVMArrayTypeKind)
        return hides_counter(LLVMGetElementType(type)) || tool_is_counter_type(LLVMGetElementType(type));
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind || tool_is_counter_type(type))
        return false;
    for (u32 i = 0; i < LLVMCountStructElementTypes(type); i++) {
        LLVMTypeRef member = LLVMStructGetTypeAtIndex(type, i);
        if (tool_is_counter_type(member) || hides_counter(member))
            return true;
    }
    return false;
}

/* A counter's first value is its number, from 1 on: what is zero is no counter. */
static bool number_variable(Building *b, LLVMValueRef g) {
    LLVMTypeRef type = LLVMGlobalGetValueType(g);
    bool is_array = LLVMGetTypeKind(type) == LLVMArrayTypeKind && tool_is_counter_type(LLVMGetElementType(type));
    if (!is_array && hides_counter(type))
        return fail(b, "a LatheCounter is a variable of its own, or an element of an array");
    if (hides_table(type))
        return fail(b, "a LatheTable is a variable of its own");
    if (tool_is_table_type(type))
        return number_table(b, g);
    if (!is_array && !tool_is_counter_type(type))
        return true;
    u64 count = is_array ? LLVMGetArrayLength2(type) : 1;
    if (b->package.counter_count + count > TOOL_COUNTERS_MAX)
        return fail(b, "it has too many counters");
    LLVMSetInitializer(g, is_array ? next_counters(b, LLVMGetElementType(type), count) : next_counter(b, type));
    return true;
}

static bool number_counters(Building *b) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(b->mod); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g) && !number_variable(b, g))
            return false;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- functions */

/* Larger amounts are left to C: those of many instructions are added up in 32 bits. */
enum { AMOUNT_MOST = 1 << 16 };

static ToolReason as_amount(LLVMValueRef value, i32 *amount) {
    if (!LLVMIsAConstantInt(value))
        return TOOL_AMOUNT_VARIES;
    i64 whole = LLVMConstIntGetSExtValue(value);
    *amount = (i32)whole;
    return whole <= AMOUNT_MOST && whole >= -AMOUNT_MOST ? TOOL_NO_REASON : TOOL_AMOUNT_LARGE;
}

/* Is this value of a hook's known when code is translated? */
static bool is_known_ahead(LLVMValueRef values, u32 index) {
    LLVMValueRef value = index < LATHE_VALUES ? LLVMGetAggregateElement(values, index) : NULL;
    return value && tool_is_known_ahead(LLVMConstIntGetZExtValue(LLVMGetAggregateElement(value, VALUE_WHAT)));
}

/* Is it the size of something? */
static bool is_size(LLVMValueRef values, u32 index) {
    LLVMValueRef value = index < LATHE_VALUES ? LLVMGetAggregateElement(values, index) : NULL;
    u64 what = value ? LLVMConstIntGetZExtValue(LLVMGetAggregateElement(value, VALUE_WHAT)) : LATHE_NO_VALUE;
    return what == LATHE_SIZE || what == LATHE_BYTES || what == LATHE_COUNT;
}

/* The amount is a constant; or a size that the function is given, as it is, but for LATHE_INSN, at which all instructions count the same. */
static ToolReason as_counter_amount(LLVMValueRef value, LatheEvent event, LLVMValueRef function, LLVMValueRef values,
                                    ToolAdd *add) {
    for (u32 i = 0; i < LLVMCountParams(function); i++)
        if (event != LATHE_INSN && LLVMGetParam(function, i) == value && is_size(values, i)) {
            add->value = i + 1;
            return TOOL_NO_REASON;
        }
    return as_amount(value, &add->amount);
}

/* A key is a constant, or what the function is given, as it is. */
static bool as_key(LLVMValueRef value, LLVMValueRef function, LLVMValueRef values, ToolKey *key) {
    if (LLVMIsAConstantInt(value))
        *key = (ToolKey){.constant = LLVMConstIntGetZExtValue(value)};
    for (u32 i = 0; i < LLVMCountParams(function); i++)
        if (LLVMGetParam(function, i) == value && is_known_ahead(values, i))
            *key = (ToolKey){.value = i + 1};
    return LLVMIsAConstantInt(value) || key->value;
}

static ToolReason as_row(LLVMValueRef insn, LLVMValueRef function, LLVMValueRef values, ToolRowAdd *row) {
    LLVMValueRef table = LLVMGetOperand(insn, 0);
    *row = (ToolRowAdd){.table = tool_counter_number(table)};
    for (u32 i = 0; i < LATHE_KEYS; i++)
        if (!as_key(LLVMGetOperand(insn, 1 + i), function, values, &row->key[i]))
            return TOOL_KEY_VARIES;
    return as_amount(LLVMGetOperand(insn, 1 + LATHE_KEYS), &row->amount);
}

/* Adds what a call does to a plan; or why it is no such addition as TOOL_COUNT has. */
static ToolReason add_to_plan(ToolPlan *plan, LLVMValueRef insn, LatheEvent event, LLVMValueRef function,
                              LLVMValueRef values) {
    bool row = tool_counts_in_table_at(insn);
    if (!row && !tool_counts_at(insn))
        return TOOL_DOES_MORE;
    if ((row ? plan->row_count : plan->add_count) == TOOL_ADDS)
        return TOOL_MANY_ADDS;
    if (row)
        return as_row(insn, function, values, &plan->row[plan->row_count++]);
    ToolAdd *add = &plan->add[plan->add_count++];
    add->counter = tool_counter_number(LLVMGetOperand(insn, 0));
    return as_counter_amount(LLVMGetOperand(insn, 1), event, function, values, add);
}

static ToolPlan call_because(ToolReason reason) {
    return (ToolPlan){.kind = TOOL_CALL, .reason = reason};
}

/* TOOL_COUNT if the function is one block of such calls. */
static ToolPlan plan_of(LatheEvent event, LLVMValueRef function, LLVMValueRef values) {
    ToolPlan plan = {.kind = TOOL_COUNT};
    if (LLVMCountBasicBlocks(function) != 1)
        return call_because(TOOL_HAS_CONDITIONS);
    LLVMValueRef insn = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    for (; !LLVMIsAReturnInst(insn); insn = LLVMGetNextInstruction(insn)) {
        ToolReason reason = add_to_plan(&plan, insn, event, function, values);
        if (reason)
            return call_because(reason);
    }
    return plan;
}

static bool is_of_state(LLVMValueRef function) {
    size_t len;
    return tool_is_state_function(LLVMGetValueName2(function, &len));
}

static bool uses_state(LLVMModuleRef mod) {
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f))
        if (is_of_state(f))
            return true;
    return false;
}

/* Functions that can be reached from one. */
typedef struct Reached {
    VEC(LLVMValueRef) all;
    bool unknown; /* and others: by pointers */
} Reached;

static void reach(Reached *r, LLVMValueRef function) {
    for (size_t i = 0; i < r->all.len; i++)
        if (r->all.at[i] == function)
            return;
    VEC_PUSH(&r->all, function);
}

static void reach_calls(Reached *r, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef called = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            if (called && LLVMIsAFunction(called))
                reach(r, called);
            r->unknown |= called && !LLVMIsAFunction(called) && !LLVMIsAInlineAsm(called);
        }
}

/* May it call a function that works on the program's whole state? */
static bool wants_state(LLVMValueRef function) {
    Reached r = {0};
    reach(&r, function);
    bool wants = false;
    for (size_t i = 0; i < r.all.len; i++) {
        reach_calls(&r, r.all.at[i]);
        wants |= is_of_state(r.all.at[i]);
    }
    wants |= r.unknown && uses_state(LLVMGetGlobalParent(function));
    VEC_FREE(&r.all);
    return wants;
}

/* -------------------------------------------------------------------------------------------------------------- hooks */

/* Member `index` of a hook, HOOK_*. */
static LLVMValueRef member(LLVMValueRef hook, unsigned index) {
    return LLVMGetAggregateElement(hook, index);
}

/* Of several instructions that are always executed together, events before them may be counted as one. */
static bool may_count_ahead(LatheEvent event) {
    switch (event) {
    case LATHE_INSN:
    case LATHE_LOAD:
    case LATHE_STORE:
    case LATHE_BLOCK:
    case LATHE_BRANCH:
    case LATHE_JUMP:
    case LATHE_GOTO:
    case LATHE_CALL:
    case LATHE_RETURN:
    case LATHE_FUNCTION:
        return true;
    default:
        return false;
    }
}

static ToolPlan plan_for(LatheEvent event, LLVMValueRef function, LLVMValueRef values) {
    if (may_count_ahead(event))
        return plan_of(event, function, values);
    bool is_later = event == LATHE_INSN_DONE || event == LATHE_LOADED || event == LATHE_STORED;
    return call_because(is_later ? TOOL_LATER_EVENT : TOOL_NO_REASON);
}

/* The text that a member of LatheWhere points to; "": none. */
static const char *text_of(LLVMValueRef pointer) {
    size_t len;
    LLVMValueRef text = LLVMIsAGlobalVariable(pointer) ? LLVMGetInitializer(pointer) : NULL;
    return text && LLVMIsConstantString(text) ? LLVMGetAsString(text, &len) : "";
}

static void plan_where(ToolPlan *plan, LLVMValueRef where, u32 tool) {
    plan->once = !LLVMIsNull(member(where, WHERE_ONCE));
    plan->when.tool = tool;
    snprintf(plan->when.option, TOOL_OPTION_NAME, "%s", text_of(member(where, WHERE_OPTION)));
    snprintf(plan->when.unless, TOOL_OPTION_NAME, "%s", text_of(member(where, WHERE_UNLESS)));
    if (plan->once)
        plan->kind = TOOL_CALL, plan->reason = TOOL_IS_ONCE;
}

static bool plan_hook(Building *b, LLVMValueRef hook, u32 number) {
    LLVMValueRef function = member(hook, HOOK_CALL);
    if (!function || !LLVMIsAFunction(function) || LLVMIsDeclaration(function))
        return fail(b, "a hook has no function of the tool's");
    if (b->package.hook_count == TOOL_HOOKS_MAX)
        return fail(b, "it has too many hooks");
    char why[WHY_BYTES];
    if (!tool_check_hook(hook, number, why, sizeof(why)))
        return fail(b, why);
    LatheEvent event = (LatheEvent)LLVMConstIntGetZExtValue(member(hook, HOOK_EVENT));
    b->plan[b->package.hook_count] = plan_for(event, function, member(hook, HOOK_VALUES));
    plan_where(&b->plan[b->package.hook_count], member(hook, HOOK_WHERE), b->tool);
    b->plan[b->package.hook_count++].wants_state = wants_state(function);
    return true;
}

static bool plan_hooks(Building *b) {
    LLVMValueRef hooks = LLVMGetNamedGlobal(b->mod, TOOL_HOOKS), list = hooks ? LLVMGetInitializer(hooks) : NULL;
    if (!list)
        return fail(b, "it has no LATHE_HOOKS");
    for (unsigned i = 0;; i++) {
        LLVMValueRef hook = LLVMGetAggregateElement(list, i), event = hook ? member(hook, HOOK_EVENT) : NULL;
        if (!event || !LLVMIsAConstantInt(event))
            return fail(b, "its hooks are not those of LATHE_HOOKS");
        bool is_last = i + 1 == LLVMGetArrayLength2(LLVMTypeOf(list));
        if (LLVMConstIntGetZExtValue(event) == LATHE_NOTHING)
            return is_last ? true : fail(b, "a hook is for LATHE_NOTHING, which is no event");
        if (!plan_hook(b, hook, i + 1))
            return false;
    }
}

/* ------------------------------------------------------------------------------------------------------------ package */

static bool read_bitcode(Building *b, const char *path) {
    LLVMMemoryBufferRef buffer;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        fail(b, message);
        LLVMDisposeMessage(message);
        return false;
    }
    bool bad = LLVMParseBitcodeInContext2(b->ctx, buffer, &b->mod);
    LLVMDisposeMemoryBuffer(buffer);
    return bad ? fail(b, "clang's bitcode cannot be read") : true;
}

static u8 *append(u8 *at, const void *data, size_t size) {
    memcpy(at, data, size);
    return at + size;
}

static void *put_together(Building *b, size_t *size) {
    void *object;
    size_t object_size, plans = b->package.hook_count * sizeof(ToolPlan);
    tool_expand_copies(b->mod);
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(b->mod);
    tool_add_variants(b->mod);
    tool_add_keeping(b->mod);
    LatheJit *jit = lathe_jit_new(NULL);
    LatheStatus status = lathe_jit_emit(jit, b->mod, LATHE_OPT_QUICK, false, &object, &object_size);
    lathe_jit_free(jit);
    if (status != LATHE_OK) {
        LLVMDisposeMemoryBuffer(bitcode);
        fail(b, "LLVM cannot compile it");
        return NULL;
    }
    b->package.object_size = object_size;
    b->package.bitcode_size = LLVMGetBufferSize(bitcode);
    b->package.inputs_size = b->inputs->size;
    *size = sizeof(ToolPackage) + plans + object_size + b->package.bitcode_size + b->inputs->size;
    u8 *all = malloc(*size), *at = all;
    CHECK(all, "out of memory");
    at += sizeof(ToolPackage);
    at = append(at, b->plan, plans);
    at = append(at, object, object_size);
    at = append(at, LLVMGetBufferStart(bitcode), b->package.bitcode_size);
    append(at, b->inputs->paths, b->inputs->size);
    b->package.checksum = pack_hash(PACK_HASH_START, all + sizeof(ToolPackage), *size - sizeof(ToolPackage));
    memcpy(all, &b->package, sizeof(ToolPackage));
    LLVMDisposeMemoryBuffer(bitcode);
    free(object);
    return all;
}

static bool check_uses(Building *b) {
    char why[WHY_BYTES];
    return tool_check_uses(b->mod, why, sizeof(why)) ? true : fail(b, why);
}

static bool add_tool(Building *b, const ToolSource *source, u32 number) {
    b->source = source->path;
    b->tool = number;
    b->mod = NULL;
    if (!read_bitcode(b, source->bitcode) || !check_uses(b) || !number_counters(b) || !plan_hooks(b))
        return false;
    tool_set_apart(b->mod, number);
    LLVMModuleRef mod = b->mod;
    b->mod = NULL;
    if (b->all && LLVMLinkModules2(b->all, mod))
        return fail(b, "it cannot be linked to other tools");
    b->all = b->all ? b->all : mod;
    return true;
}

static bool add_tools(Building *b) {
    for (u32 i = 0; i < b->inputs->source_count; i++)
        if (!add_tool(b, &b->inputs->sources[i], i + 1))
            return false;
    b->mod = b->all;
    b->all = NULL;
    tool_join_hooks(b->mod, b->inputs->source_count);
    return true;
}

void *tool_build(const ToolInputs *inputs, size_t *size, char *why, size_t why_size) {
    Building b = {
        .ctx = LLVMContextCreate(),
        .package = {.magic = TOOL_MAGIC,
                    .version = TOOL_VERSION,
                    .identity = inputs->identity,
                    .counter_count = 1,
                    .table_count = 1},
        .inputs = inputs,
        .why = why,
        .why_size = why_size,
    };
    void *package = add_tools(&b) ? put_together(&b, size) : NULL;
    if (b.mod)
        LLVMDisposeModule(b.mod);
    if (b.all)
        LLVMDisposeModule(b.all);
    LLVMContextDispose(b.ctx);
    return package;
}
