/* relocation.c: the words of an image that the dynamic linker writes.
 *
 * Jump tables and tables of function pointers in position-independent code are made of relative relocations: the word
 * in the file is meaningless, the addend is the pointer. Relocations are found through the dynamic segment, as the
 * loader does it. Packed relative relocations (DT_RELR) need nothing: their word in the file is the pointer at load
 * bias 0.
 */
#include <stdlib.h>

#include "elf/parts.h"

typedef struct RelaTable {
    u64 addr, size;
} RelaTable;

/* The two tables of a dynamic segment: DT_RELA and the PLT's DT_JMPREL, which is of the same form. */
static void find_tables(const u8 *dynamic, u64 size, RelaTable table[2]) {
    for (u64 off = 0; off + sizeof(Elf64_Dyn) <= size; off += sizeof(Elf64_Dyn)) {
        Elf64_Dyn d;
        memcpy(&d, dynamic + off, sizeof(d));
        if (d.d_tag == DT_NULL)
            return;
        if (d.d_tag == DT_RELA)
            table[0].addr = d.d_un.d_ptr;
        if (d.d_tag == DT_RELASZ)
            table[0].size = d.d_un.d_val;
        if (d.d_tag == DT_JMPREL)
            table[1].addr = d.d_un.d_ptr;
        if (d.d_tag == DT_PLTRELSZ)
            table[1].size = d.d_un.d_val;
    }
}

static bool add_table(ElfFile *elf, RelaTable table, ElfError *error) {
    const u8 *bytes = elf_contents(elf, table.addr, table.size);
    if (!bytes && table.size)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "broken: the relocations at 0x%lx lie outside the image",
                        table.addr);
    for (u64 off = 0; off + sizeof(Elf64_Rela) <= table.size; off += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        memcpy(&r, bytes + off, sizeof(r));
        u32 type = ELF64_R_TYPE(r.r_info);
        if (type == 0) /* R_*_NONE */
            continue;
        Cell c = {.addr = r.r_offset, .value = (u64)r.r_addend, .known = type == elf->isa->elf_relative};
        VEC_PUSH(&elf->cells, c);
    }
    return true;
}

static int by_addr(const void *a, const void *b) {
    const Cell *x = a, *y = b;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

/* The index of the first cell that reaches beyond addr. */
static size_t first_after(const ElfFile *elf, u64 addr) {
    size_t low = 0, high = elf->cells.len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (elf->cells.at[mid].addr + 8 <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool elf_load_cells(ElfFile *elf, ElfError *error) {
    RelaTable table[2] = {{0}};
    if (!elf->dynamic)
        return true;
    const u8 *dynamic = elf_contents(elf, elf->dynamic, elf->dynamic_size);
    if (!dynamic)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "broken: the dynamic segment lies outside the image");
    find_tables(dynamic, elf->dynamic_size, table);
    if (!add_table(elf, table[0], error) || !add_table(elf, table[1], error))
        return false;
    if (elf->cells.len)
        qsort(elf->cells.at, elf->cells.len, sizeof(*elf->cells.at), by_addr);
    while (elf->cells.len && elf->cells.at[elf->cells.len - 1].addr > UINT64_MAX - 8)
        elf->cells.len--;
    return true;
}

void elf_apply_cells(const ElfFile *elf, u64 addr, u8 *buf, size_t size) {
    for (size_t i = first_after(elf, addr); i < elf->cells.len && elf->cells.at[i].addr < addr + size; i++) {
        const Cell *c = &elf->cells.at[i];
        for (unsigned byte = 0; c->known && byte < 8; byte++)
            if (c->addr + byte >= addr && c->addr + byte < addr + size)
                buf[c->addr + byte - addr] = (u8)(c->value >> (8 * byte));
    }
}

u64 elf_unknown_cell(const ElfFile *elf, u64 addr, u64 end) {
    for (size_t i = first_after(elf, addr); i < elf->cells.len && elf->cells.at[i].addr < end; i++)
        if (!elf->cells.at[i].known)
            return elf->cells.at[i].addr > addr ? elf->cells.at[i].addr : addr;
    return end;
}

bool elf_is_filled(const ElfFile *elf, u64 addr) {
    return elf_unknown_cell(elf, addr, addr + 8) == addr;
}

static void add_pointer(const ElfFile *elf, u64 at, ElfPointers *found) {
    const u8 *bytes = elf_contents(elf, at, 8);
    ElfPointer p = {.at = at};
    if (!bytes)
        return;
    memcpy(&p.to, bytes, sizeof(p.to));
    VEC_PUSH(found, p);
}

/* An even word is the address of a pointer, an odd one has a bit for each of the 63 words that follow the last. */
void elf_packed_pointers(const ElfFile *elf, ElfPointers *found) {
    u64 size = elf_dynamic_value(elf, DT_RELRSZ, 0, 0), at = 0;
    const u8 *bytes = size ? elf_contents(elf, elf_dynamic_value(elf, DT_RELR, 0, 0), size) : NULL;
    for (u64 off = 0; bytes && off + 8 <= size; off += 8) {
        u64 word;
        memcpy(&word, bytes + off, 8);
        if (!(word & 1)) {
            add_pointer(elf, word, found);
            at = word + 8;
            continue;
        }
        for (u64 bit = 1; bit < 64; bit++)
            if (word >> bit & 1)
                add_pointer(elf, at + (bit - 1) * 8, found);
        at += 63 * 8;
    }
}
