/* stubs.c: code that only jumps through a word that the dynamic linker has written: calls of other files' functions lead there, and of functions that are chosen by the processor. */
#include "lift/func.h"
#include "raise/raise.h"

/* Does the instruction do nothing, as markers for computed jumps do? */
static bool is_marker(const Insn *in) {
    return in->flow == FLOW_NEXT && !in->operand_count && regset_is_empty(&in->writes);
}

/* Where the jump at `pc` loads its target from; false: there is no such jump. */
static bool jumps_through(const Raise *r, u64 pc, u64 *end, u64 *slot) {
    u8 bytes[16];
    Insn in = {.pc = pc};
    size_t size = elf_read_const(r->elf, pc, bytes, sizeof(bytes));
    *slot = 0;
    if (!size || r->isa->decode(bytes, size, pc, &in) != LATHE_OK)
        return false;
    *end = insn_end(&in);
    for (int i = 0; in.flow == FLOW_INDIRECT && i < in.operand_count; i++)
        if (in.op[i].kind == OPERAND_MEM && in.op[i].base == REG_PC)
            *slot = (u64)in.op[i].disp;
    return in.flow == FLOW_INDIRECT || is_marker(&in);
}

/* The word that the stub at `pc` jumps through; a marker for computed jumps may come first. 0: it is no stub. */
static u64 slot_of(const Raise *r, u64 pc) {
    u64 slot = 0;
    for (int i = 0; i < 2 && !slot; i++)
        if (!jumps_through(r, pc, &pc, &slot))
            return 0;
    return slot;
}

static const char *find_import(const Raise *r, u64 pc) {
    u64 slot = raise_far_slot(r, pc);
    const char *kept = raise_kept(r, pc);
    if (kept)
        return kept;
    if (slot)
        return elf_imported_at(r->elf, slot);
    slot = slot_of(r, pc);
    return slot ? elf_imported_at(r->elf, slot) : NULL;
}

const char *raise_import_at(Raise *r, u64 pc) {
    u32 index;
    if (!map64_get(&r->stubs, pc, &index)) {
        index = (u32)r->stub_names.len;
        map64_set(&r->stubs, pc, index);
        VEC_PUSH(&r->stub_names, find_import(r, pc));
    }
    return r->stub_names.at[index];
}

bool raise_is_stub(const Raise *r, u64 pc) {
    u64 slot = elf_is_code(r->elf, pc) ? slot_of(r, pc) : 0;
    return slot && !elf_imported_at(r->elf, slot) && elf_is_filled(r->elf, slot);
}
