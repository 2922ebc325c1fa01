/* record.c: see record.h. */
#include "cli/explore/record.h"

#include <llvm-c/Core.h>
#include <stdio.h>

/* A page with more of them is slow to open. The first step and the last one are always kept. */
enum { STORED_MAX = 1 << 18 };

static bool is_named(LLVMValueRef v) {
    size_t size;
    LLVMGetValueName2(v, &size);
    return size > 0;
}

static void name(Record *r, LLVMValueRef v, const char *what) {
    char text[32];
    int size = snprintf(text, sizeof(text), "%s%lu", what, ++r->names);
    LLVMSetValueName2(v, text, (size_t)size);
}

static void name_all(Record *r) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(r->function); b; b = LLVMGetNextBasicBlock(b)) {
        if (!is_named(LLVMBasicBlockAsValue(b)))
            name(r, LLVMBasicBlockAsValue(b), "b");
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind && !is_named(i))
                name(r, i, "v");
    }
}

/* The number of a line that is the same as this one. */
static u32 store(Record *r, const Line *line) {
    u64 hash = line_hash(line) + line->from;
    u32 at;
    if (map64_get(&r->by_hash, hash, &at)) {
        const Line *known = &r->lines.at[at];
        if (known->from == line->from && known->size == line->size && !memcmp(known->text, line->text, line->size))
            return at;
    }
    char *text = arena_alloc(&r->arena, line->size + 1);
    memcpy(text, line->text, line->size);
    at = (u32)r->lines.len;
    VEC_PUSH(&r->lines, ((Line){text, line->size, line->from}));
    map64_set(&r->by_hash, hash, at);
    return at;
}

static bool is_as_before(const Record *r, const Step *s) {
    const Step *last = r->steps.len ? &r->steps.at[r->steps.len - 1] : NULL;
    return last && last->count == s->count && !memcmp(last->lines, s->lines, s->count * sizeof(*s->lines));
}

void record_step(Record *r, const char *pass) {
    Lines lines = {0};
    char *text;
    name_all(r);
    lines_of_function(&lines, r->function, &text);
    Step s = {arena_printf(&r->arena, "%s", pass), ARENA_ARRAY(&r->arena, u32, lines.len), (u32)lines.len};
    for (size_t i = 0; i < lines.len; i++)
        s.lines[i] = store(r, &lines.at[i]);
    if (!is_as_before(r, &s)) {
        r->stored += s.count;
        VEC_PUSH(&r->steps, s);
    }
    VEC_FREE(&lines);
    LLVMDisposeMessage(text);
}

/* ------------------------------------------------------------------------------------------------------------- changes */

static u64 mix(u64 hash, u64 value) {
    return (hash ^ value) * 0x9e3779b97f4a7c15;
}

static u64 print_of_insn(LLVMValueRef in) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(in);
    u64 hash = mix((u64)(uintptr_t)in, opcode);
    for (int i = 0, count = LLVMGetNumOperands(in); i < count; i++)
        hash = mix(hash, (u64)(uintptr_t)LLVMGetOperand(in, (unsigned)i));
    if (opcode == LLVMLoad || opcode == LLVMStore)
        hash = mix(hash, LLVMGetAlignment(in));
    return mix(hash, (u64)(uintptr_t)LLVMTypeOf(in));
}

/* Most passes change nothing, and to see that this is much faster than to print the function. What it does not see, attributes and flags of instructions, shows with the next change that it does. */
static u64 print_of(LLVMValueRef function) {
    u64 hash = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        hash = mix(hash, (u64)(uintptr_t)b);
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            hash = mix(hash, print_of_insn(i));
    }
    return hash;
}

void record_pass(void *record, const char *pass, LLVMModuleRef mod) {
    Record *r = record;
    u64 print = print_of(r->function);
    (void)mod;
    if (print == r->print)
        return;
    r->print = print;
    if (r->stored < STORED_MAX)
        record_step(r, pass);
    else
        r->left_out++;
}

void record_free(Record *r) {
    arena_free(&r->arena);
    VEC_FREE(&r->lines);
    map64_free(&r->by_hash);
    VEC_FREE(&r->steps);
}
