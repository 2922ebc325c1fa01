/* watch.c: a tool's functions and additions in lifted code that is to be raised. */
#include <llvm-c/Core.h>
#include <stdio.h>

#include "raise/tool/tool.h"

LLVMValueRef tool_function(RaiseTool *t, const char *name, LLVMTypeRef type) {
    LLVMValueRef fn = LLVMGetNamedFunction(t->r->mod, name);
    if (fn)
        return fn;
    fn = LLVMAddFunction(t->r->mod, name, type);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, raise_attribute(t->r, "nounwind", 0));
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
    return fn;
}

static LLVMTypeRef word_type(const RaiseTool *t) {
    return LLVMInt64TypeInContext(t->r->ctx);
}

static size_t read(void *user, u64 pc, void *to, size_t size) {
    const RaiseTool *t = user;
    return elf_read(t->r->elf, pc, to, size);
}

static bool is_left(void *user, u64 pc) {
    (void)user, (void)pc;
    return false;
}

/* While functions are looked for, what is no code may be taken for some. */
static void cannot_tell(void *user, u64 pc, LatheEvent event) {
    RaiseTool *t = user;
    if (t->lifting)
        raise_fail(t->r,
                   "0x%lx: the instruction is repeated, or accesses several places, and its %s cannot be told to a "
                   "tool in a raised program",
                   pc, event == LATHE_STORE || event == LATHE_STORED ? "stores" : "loads");
}

/* --------------------------------------------------------------------------------------------------------------- values */

static Val thread_id(void *user, Lifter *l) {
    RaiseTool *t = user;
    LLVMTypeRef type = LLVMFunctionType(word_type(t), NULL, 0, false);
    return LLVMBuildCall2(l->b, type, tool_function(t, TOOL_THREAD_ID, type), NULL, 0, "");
}

static Val thread_own(void *user, Lifter *l, u64 number) {
    RaiseTool *t = user;
    LLVMTypeRef word = word_type(t), type = LLVMFunctionType(word, &word, 1, false);
    LLVMValueRef off = LLVMConstInt(word, number, false);
    return LLVMBuildCall2(l->b, type, tool_function(t, TOOL_THREAD_OWN, type), &off, 1, "");
}

/* The words are a variable of the module. */
static Val site_words(void *user, Lifter *l, u32 hook, u64 pc) {
    const RaiseTool *t = user;
    char name[64];
    snprintf(name, sizeof(name), "lathe_tool_site_%x_%lx", hook, pc);
    LLVMValueRef words = LLVMGetNamedGlobal(t->r->mod, name);
    if (!words) {
        LLVMTypeRef type = LLVMArrayType2(word_type(t), LATHE_SITE_WORDS);
        words = LLVMAddGlobal(t->r->mod, type, name);
        LLVMSetInitializer(words, LLVMConstNull(type));
        LLVMSetVisibility(words, LLVMHiddenVisibility);
    }
    return LLVMBuildPtrToInt(l->b, words, word_type(t), "");
}

/* Tools that ask for it are refused. */
static Val counted(void *user, Lifter *l, u64 counter) {
    (void)user, (void)counter;
    return ir_int(l, I64, 0);
}

/* ------------------------------------------------------------------------------------------------------------- counting */

static void build_add(RaiseTool *t, Lifter *l, const char *name, u64 number, i32 amount) {
    LLVMTypeRef word = word_type(t), params[] = {word, word};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(t->r->ctx), params, 2, false);
    LLVMValueRef args[] = {LLVMConstInt(word, number, false), LLVMConstInt(word, (u64)(i64)amount, true)};
    LLVMBuildCall2(l->b, type, tool_function(t, name, type), args, 2, "");
}

static void add(void *user, Lifter *l, u64 counter, i32 amount) {
    build_add(user, l, TOOL_ADD, counter, amount);
}

static u64 hash_of(const ToolFactsRow *row) {
    u64 hash = row->table * 8 + row->relative;
    for (u32 i = 0; i < LATHE_KEYS; i++)
        hash = (hash ^ row->key[i] ^ hash >> 29) * 0x9e3779b97f4a7c15u;
    return hash;
}

static u32 row_number(RaiseTool *t, const ToolFactsRow *row) {
    u32 number;
    u64 hash = hash_of(row);
    for (; map64_get(&t->row_by_hash, hash, &number); hash++)
        if (!memcmp(&t->rows.at[number], row, sizeof(*row)))
            return number;
    number = (u32)t->rows.len;
    map64_set(&t->row_by_hash, hash, number);
    VEC_PUSH(&t->rows, *row);
    return number;
}

static void add_row(void *user, Lifter *l, const EventsRow *row) {
    ToolFactsRow facts = {.table = row->table, .relative = row->relative};
    memcpy(facts.key, row->key, sizeof(facts.key));
    build_add(user, l, TOOL_ADD_ROW, row_number(user, &facts), row->amount);
}

static void counts(void *user, u32 hook) {
    (void)user, (void)hook;
}

static bool call(void *user, Lifter *l, u32 hook, const char *function, Val value[LATHE_VALUES]) {
    RaiseTool *t = user;
    LLVMValueRef of_tool = LLVMGetNamedFunction(t->mod, function), args[LATHE_VALUES];
    u32 count;
    (void)hook;
    if (!events_arguments(l->b, of_tool, value, args, &count))
        return false;
    LLVMTypeRef type = LLVMGlobalGetValueType(of_tool);
    LLVMBuildCall2(l->b, type, tool_function(t, function, type), args, count, "");
    return true;
}

void tool_open_door(RaiseTool *t) {
    t->door = (EventsDoor){.isa = t->r->isa,
                           .user = t,
                           .base = t->r->extent.start,
                           .read = read,
                           .is_left = is_left,
                           .hooks_at = tool_hooks_at,
                           .cannot_tell = cannot_tell,
                           .thread_id = thread_id,
                           .thread_own = thread_own,
                           .site_words = site_words,
                           .counted = counted,
                           .add = add,
                           .add_row = add_row,
                           .call = call,
                           .counts = counts,
                           .inside_traps = true};
    t->events = events_new(&t->door);
}
