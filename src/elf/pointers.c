/* pointers.c: addresses of code in an image's data.
 *
 * In a position-independent image every pointer is a relocation: relative ones name the code, those of the PLT have
 * its lazy stubs in the file. In others a pointer is just a word, and any word that could be one is taken for it. */
#include "elf/parts.h"

static void add(const ElfFile *elf, u64 at, u64 to, ElfPointers *found) {
    if (to && elf_is_code(elf, to))
        VEC_PUSH(found, ((ElfPointer){at, to}));
}

static void add_word(const ElfFile *elf, u64 at, ElfPointers *found) {
    const u8 *bytes = elf_contents(elf, at, 8);
    u64 word;
    if (!bytes)
        return;
    memcpy(&word, bytes, 8);
    add(elf, at, word, found);
}

/* The addend is the code, of the resolver for an IRELATIVE one too. */
static void add_cells(const ElfFile *elf, ElfPointers *found) {
    for (size_t i = 0; i < elf->cells.len; i++) {
        add(elf, elf->cells.at[i].addr, elf->cells.at[i].value, found);
        if (!elf->cells.at[i].known)
            add_word(elf, elf->cells.at[i].addr, found);
    }
}

static void add_words(const ElfFile *elf, const Segment *s, ElfPointers *found) {
    for (u64 off = -s->start & 7; off + 8 <= s->byte_count; off += 8)
        add_word(elf, s->start + off, found);
}

void elf_image_words(const ElfFile *elf, ElfPointers *found) {
    for (size_t i = 0; i < elf->segments.len; i++) {
        const Segment *s = &elf->segments.at[i];
        for (u64 off = -s->start & 7; !s->executable && off + 8 <= s->byte_count; off += 8) {
            u64 word;
            memcpy(&word, s->bytes + off, 8);
            if (elf_segment(elf, word))
                VEC_PUSH(found, ((ElfPointer){s->start + off, word}));
        }
    }
}

void elf_code_pointers(const ElfFile *elf, ElfPointers *found) {
    add(elf, 0, elf->entry, found);
    add(elf, 0, elf_dynamic_value(elf, DT_INIT, 0, 0), found);
    add(elf, 0, elf_dynamic_value(elf, DT_FINI, 0, 0), found);
    add_cells(elf, found);
    ElfPointers packed = {0};
    elf_packed_pointers(elf, &packed);
    for (size_t i = 0; i < packed.len; i++)
        add(elf, packed.at[i].at, packed.at[i].to, found);
    VEC_FREE(&packed);
    for (size_t i = 0; !elf->position_independent && i < elf->segments.len; i++)
        if (!elf->segments.at[i].executable)
            add_words(elf, &elf->segments.at[i], found);
}
