/* facts.c: what the tools' run-time has to know of a raised program, as variables of its module: ToolFacts of raise/runtime/tool/facts.h. */
#include <llvm-c/Core.h>

#include "raise/tool/tool.h"

typedef VEC(LLVMValueRef) Values;

static LLVMValueRef word(const RaiseTool *t, u64 value) {
    return LLVMConstInt(LLVMInt64TypeInContext(t->r->ctx), value, false);
}

static LLVMTypeRef pointer_type(const RaiseTool *t) {
    return LLVMPointerTypeInContext(t->r->ctx, 0);
}

static LLVMValueRef variable(const RaiseTool *t, LLVMValueRef contents, const char *name) {
    LLVMValueRef v = LLVMAddGlobal(t->r->mod, LLVMTypeOf(contents), name);
    LLVMSetInitializer(v, contents);
    LLVMSetVisibility(v, LLVMHiddenVisibility);
    return v;
}

static LLVMValueRef text(const RaiseTool *t, const char *string) {
    return variable(t, LLVMConstStringInContext2(t->r->ctx, string, strlen(string), false), "lathe_tool_text");
}

/* A row of words and pointers, as a struct of C has them. */
static LLVMValueRef row(const RaiseTool *t, LLVMValueRef *members, u32 count) {
    return LLVMConstStructInContext(t->r->ctx, members, count, false);
}

/* The address of an array of rows that are alike; NULL: there are none. */
static LLVMValueRef array(const RaiseTool *t, const Values *rows, const char *name) {
    if (!rows->len)
        return LLVMConstNull(pointer_type(t));
    return variable(t, LLVMConstArray2(LLVMTypeOf(rows->at[0]), rows->at, rows->len), name);
}

static LLVMValueRef keys(const RaiseTool *t) {
    Values rows = {0};
    for (size_t i = 0; i < t->rows.len; i++) {
        const ToolFactsRow *k = &t->rows.at[i];
        LLVMValueRef members[] = {word(t, k->key[0]), word(t, k->key[1]), word(t, k->key[2]), word(t, k->table),
                                  word(t, k->relative)};
        VEC_PUSH(&rows, row(t, members, ARRAY_LEN(members)));
    }
    LLVMValueRef all = array(t, &rows, "lathe_tool_keys");
    VEC_FREE(&rows);
    return all;
}

/* Functions of the file that have names, by rising addresses. */
static LLVMValueRef symbols(const RaiseTool *t, u64 *count) {
    const ElfFunction *f;
    size_t all = elf_functions(t->r->elf, &f);
    Values rows = {0};
    for (size_t i = 0; i < all; i++) {
        if (!f[i].name)
            continue;
        LLVMValueRef members[] = {word(t, f[i].addr - t->r->extent.start), word(t, f[i].size),
                                  word(t, tool_function_room(t, &f[i])), text(t, f[i].name)};
        VEC_PUSH(&rows, row(t, members, ARRAY_LEN(members)));
    }
    *count = rows.len;
    LLVMValueRef list = array(t, &rows, "lathe_tool_symbols");
    VEC_FREE(&rows);
    return list;
}

static LLVMValueRef opcodes(const RaiseTool *t, u64 *count) {
    Values rows = {0};
    bool wanted = LLVMGetNamedFunction(t->mod, "lathe_opcode_name");
    for (u32 i = 0; wanted && i < INSN_OPCODES; i++)
        VEC_PUSH(&rows, text(t, t->r->isa->opcode_name(i)));
    *count = rows.len;
    LLVMValueRef list = array(t, &rows, "lathe_tool_opcodes");
    VEC_FREE(&rows);
    return list;
}

/* Segments that can be executed. */
static LLVMValueRef parts(const RaiseTool *t, u64 *count) {
    Values rows = {0};
    size_t size;
    const u8 *file = elf_bytes(t->r->elf, &size);
    Elf64_Ehdr head;
    memcpy(&head, file, sizeof(head));
    for (u32 i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, file + head.e_phoff + i * sizeof(p), sizeof(p));
        if (p.p_type != PT_LOAD || !(p.p_flags & PF_X))
            continue;
        u64 start = p.p_vaddr & -(u64)ELF_PAGE, end = (p.p_vaddr + p.p_memsz + ELF_PAGE - 1) & -(u64)ELF_PAGE;
        LLVMValueRef members[] = {word(t, start - t->r->extent.start), word(t, end - start),
                                  word(t, p.p_offset & -(u64)ELF_PAGE)};
        VEC_PUSH(&rows, row(t, members, ARRAY_LEN(members)));
    }
    *count = rows.len;
    LLVMValueRef list = array(t, &rows, "lathe_tool_parts");
    VEC_FREE(&rows);
    return list;
}

void tool_add_facts(RaiseTool *t) {
    u64 symbol_count, opcode_count, part_count;
    LLVMModuleRef mod = t->r->mod;
    LLVMValueRef symbol_list = symbols(t, &symbol_count), opcode_list = opcodes(t, &opcode_count),
                 part_list = parts(t, &part_count);
    LLVMValueRef members[] = {LLVMGetNamedGlobal(mod, TOOL_COUNTERS),
                              word(t, t->parts.head->counter_count),
                              LLVMGetNamedGlobal(mod, TOOL_ROWS),
                              word(t, t->rows.len),
                              keys(t),
                              word(t, t->parts.head->table_count),
                              symbol_list,
                              word(t, symbol_count),
                              opcode_list,
                              word(t, opcode_count),
                              part_list,
                              word(t, part_count),
                              text(t, t->options),
                              raise_image(t->r),
                              word(t, t->r->extent.start)};
    variable(t, row(t, members, ARRAY_LEN(members)), TOOL_FACTS);
}
