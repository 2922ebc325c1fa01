/* labels.c: see labels.h.
 *
 * Threaded code (`goto *table[*pc++]`) looks like a tail call through a pointer; only the code around the jump shows the difference. */
#include "binopt/llvm/lift/labels.h"

#include "binopt/process/object.h"
#include "binopt/process/unwind.h"

/* A function, or a part of one: compilers put rarely used code elsewhere. */
typedef struct CodeExtent {
    u64 start, end;
} CodeExtent;

typedef VEC(CodeExtent) CodeExtents;

static bool is_inside(const CodeExtent *e, u64 addr) {
    return addr > e->start && addr < e->end;
}

static bool have(const CodeExtents *list, u64 pc) {
    for (size_t i = 0; i < list->len; i++)
        if (pc == list->at[i].start || is_inside(&list->at[i], pc))
            return true;
    return false;
}

/* Finds the extents that contain all instructions. Returns false if one is not known. */
static bool find_extents(const LatheFunc *fn, CodeExtents *list) {
    for (size_t i = 0; i < fn->insns.len; i++) {
        CodeExtent e;
        if (have(list, fn->insns.at[i].pc))
            continue;
        if (!unwind_extent(fn->insns.at[i].pc, &e.start, &e.end))
            return false;
        VEC_PUSH(list, e);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------ unreached code */

/* The length of the unreached instruction at pc, if it is padding or a trap; otherwise 0. */
static u32 padding_at(LatheFunc *fn, u64 pc) {
    static const char *const names[] = {"nop", "int3", "ud2"};
    u8 bytes[16];
    Insn in = {.pc = pc};
    size_t size = discover_read(fn, pc, bytes, sizeof(bytes));
    if (!size || fn->isa->decode(bytes, size, pc, &in) != LATHE_OK)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(fn->isa->row_name(in.row), names[i]))
            return in.size;
    return 0;
}

static bool is_reached(LatheFunc *fn, const CodeExtent *e) {
    for (u64 pc = e->start; pc < e->end;) {
        u32 i, size = map64_get(&fn->by_pc, pc, &i) ? fn->insns.at[i].size : padding_at(fn, pc);
        if (!size)
            return false;
        pc += size;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ addresses */

/* True if a constant operand of the instruction is such an address. Targets of branches do not count. */
static bool has_address(const LatheFunc *fn, const Insn *in, const CodeExtent *e) {
    bool computes = !strcmp(fn->isa->row_name(in->row), "lea");
    if (in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH || in->flow == FLOW_CALL)
        return false;
    for (u32 i = 0; i < in->operand_count; i++) {
        const Operand *op = &in->op[i];
        if ((op->kind == OPERAND_IMM || (op->kind == OPERAND_MEM && computes)) && is_inside(e, (u64)op->disp))
            return true;
    }
    return false;
}

static bool is_taken(const LatheFunc *fn, const CodeExtent *e) {
    for (size_t i = 0; i < fn->insns.len; i++)
        if (has_address(fn, &fn->insns.at[i], e))
            return true;
    return object_points_inside(e->start, e->end);
}

bool labels_none(LatheFunc *fn) {
    CodeExtents list = {0};
    bool none = find_extents(fn, &list);
    for (size_t i = 0; none && i < list.len; i++)
        none = is_reached(fn, &list.at[i]) && !is_taken(fn, &list.at[i]);
    VEC_FREE(&list);
    return none;
}
