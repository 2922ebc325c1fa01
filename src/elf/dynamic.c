/* dynamic.c: the texts of the dynamic segment: which libraries are needed, and where to look for them. */
#include "elf/parts.h"

u64 elf_dynamic_value(const ElfFile *elf, i64 tag, size_t nth, u64 missing) {
    const u8 *dynamic = elf->dynamic ? elf_contents(elf, elf->dynamic, elf->dynamic_size) : NULL;
    for (u64 off = 0; dynamic && off + sizeof(Elf64_Dyn) <= elf->dynamic_size; off += sizeof(Elf64_Dyn)) {
        Elf64_Dyn d;
        memcpy(&d, dynamic + off, sizeof(d));
        if (d.d_tag == DT_NULL)
            break;
        if (d.d_tag == tag && nth-- == 0)
            return d.d_un.d_val;
    }
    return missing;
}

const char *elf_dynamic_text(const ElfFile *elf, i64 tag, size_t nth) {
    u64 off = elf_dynamic_value(elf, tag, nth, UINT64_MAX);
    u64 size = elf_dynamic_value(elf, DT_STRSZ, 0, 0);
    const u8 *texts = elf_contents(elf, elf_dynamic_value(elf, DT_STRTAB, 0, 0), size);
    if (!texts || off >= size || !memchr(texts + off, 0, size - off))
        return NULL;
    return (const char *)texts + off;
}
