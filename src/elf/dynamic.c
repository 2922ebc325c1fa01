/* dynamic.c: what a file needs of others: the texts of the dynamic segment, which name libraries and where to look for
 * them, and symbols. */
#include <gelf.h>

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

bool elf_imports(const ElfFile *elf, const char *name) {
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf->libelf, section))) {
        GElf_Shdr header;
        GElf_Sym symbol;
        Elf_Data *data =
            gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM ? elf_getdata(section, NULL) : NULL;
        for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
            const char *own =
                symbol.st_shndx == SHN_UNDEF ? elf_strptr(elf->libelf, header.sh_link, symbol.st_name) : NULL;
            if (own && !strcmp(own, name))
                return true;
        }
    }
    return false;
}

const char *elf_dynamic_text(const ElfFile *elf, i64 tag, size_t nth) {
    u64 off = elf_dynamic_value(elf, tag, nth, UINT64_MAX);
    u64 size = elf_dynamic_value(elf, DT_STRSZ, 0, 0);
    const u8 *texts = elf_contents(elf, elf_dynamic_value(elf, DT_STRTAB, 0, 0), size);
    if (!texts || off >= size || !memchr(texts + off, 0, size - off))
        return NULL;
    return (const char *)texts + off;
}
