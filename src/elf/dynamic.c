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

u64 elf_dynamic_number(const ElfFile *elf, i64 tag) {
    return elf_dynamic_value(elf, tag, 0, 0);
}

/* The section of dynamic symbols behind `*section`, which is it then; NULL: there is none. */
static Elf_Data *next_symbols(const ElfFile *elf, Elf_Scn **section, GElf_Shdr *header) {
    Elf_Data *data = NULL;
    while (!data && (*section = elf_nextscn(elf->libelf, *section)))
        if (gelf_getshdr(*section, header) && header->sh_type == SHT_DYNSYM)
            data = elf_getdata(*section, NULL);
    return data;
}

u32 elf_dynamic_symbols(const ElfFile *elf) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    Elf_Data *data = next_symbols(elf, &section, &header);
    return data ? (u32)(data->d_size / sizeof(Elf64_Sym)) : 0;
}

bool elf_imports(const ElfFile *elf, const char *name) {
    u32 number;
    return elf_import_number(elf, name, &number);
}

bool elf_import_number(const ElfFile *elf, const char *name, u32 *number) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    for (Elf_Data *data; (data = next_symbols(elf, &section, &header));) {
        GElf_Sym symbol;
        for (int i = 1; gelf_getsym(data, i, &symbol); i++) {
            const char *own =
                symbol.st_shndx == SHN_UNDEF ? elf_strptr(elf->libelf, header.sh_link, symbol.st_name) : NULL;
            if (own && !strcmp(own, name)) {
                *number = (u32)i;
                return true;
            }
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

bool elf_dynamic_symbol(const ElfFile *elf, u64 number, Elf64_Sym *symbol, const char **name) {
    u64 size = elf_dynamic_value(elf, DT_STRSZ, 0, 0);
    const u8 *texts = elf_contents(elf, elf_dynamic_value(elf, DT_STRTAB, 0, 0), size);
    u64 at = elf_dynamic_value(elf, DT_SYMTAB, 0, 0) + number * sizeof(*symbol);
    const u8 *bytes = elf_contents(elf, at, sizeof(*symbol));
    if (!texts || !bytes)
        return false;
    memcpy(symbol, bytes, sizeof(*symbol));
    *name = (const char *)texts + symbol->st_name;
    return symbol->st_name < size && memchr(*name, 0, size - symbol->st_name);
}

/* The symbol that a table has for the word at `addr`. */
static bool symbol_by(const ElfFile *elf, i64 table, i64 table_size, u64 addr, Elf64_Rela *r, Elf64_Sym *symbol,
                      const char **name) {
    u64 size = elf_dynamic_value(elf, table_size, 0, 0);
    const u8 *bytes = size ? elf_contents(elf, elf_dynamic_value(elf, table, 0, 0), size) : NULL;
    for (u64 off = 0; bytes && off + sizeof(Elf64_Rela) <= size; off += sizeof(Elf64_Rela)) {
        memcpy(r, bytes + off, sizeof(*r));
        if (r->r_offset == addr && ELF64_R_SYM(r->r_info) &&
            elf_dynamic_symbol(elf, ELF64_R_SYM(r->r_info), symbol, name))
            return true;
    }
    return false;
}

static bool symbol_for(const ElfFile *elf, u64 addr, Elf64_Rela *r, Elf64_Sym *symbol, const char **name) {
    return symbol_by(elf, DT_JMPREL, DT_PLTRELSZ, addr, r, symbol, name) ||
           symbol_by(elf, DT_RELA, DT_RELASZ, addr, r, symbol, name);
}

const char *elf_imported_at(const ElfFile *elf, u64 addr) {
    Elf64_Rela r;
    Elf64_Sym symbol;
    const char *name;
    return symbol_for(elf, addr, &r, &symbol, &name) && symbol.st_shndx == SHN_UNDEF ? name : NULL;
}

bool elf_pointer_at(const ElfFile *elf, u64 addr, ElfReference *to) {
    Elf64_Rela r;
    Elf64_Sym symbol;
    const char *name;
    *to = (ElfReference){0};
    if (!symbol_for(elf, addr, &r, &symbol, &name))
        return elf_read((void *)elf, addr, &to->addr, sizeof(to->addr)) == sizeof(to->addr);
    if (symbol.st_shndx == SHN_UNDEF)
        to->symbol = name;
    else
        to->addr = symbol.st_value + (u64)r.r_addend;
    return true;
}

/* On some machines DT_RELA has the table for calls in it. */
static bool is_of_plt(const ElfFile *elf, u64 addr) {
    return addr - elf_dynamic_value(elf, DT_JMPREL, 0, 0) < elf_dynamic_value(elf, DT_PLTRELSZ, 0, 0);
}

static void add_relocations(const ElfFile *elf, i64 table, i64 table_size, bool of_plt, ElfRelocations *found) {
    u64 size = elf_dynamic_value(elf, table_size, 0, 0);
    const u8 *bytes = size ? elf_contents(elf, elf_dynamic_value(elf, table, 0, 0), size) : NULL;
    for (u64 off = 0; bytes && off + sizeof(Elf64_Rela) <= size; off += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        Elf64_Sym symbol = {0};
        const char *name = NULL;
        memcpy(&r, bytes + off, sizeof(r));
        if (ELF64_R_SYM(r.r_info) && !elf_dynamic_symbol(elf, ELF64_R_SYM(r.r_info), &symbol, &name))
            name = NULL;
        ElfRelocation row = {.at = r.r_offset,
                             .type = ELF64_R_TYPE(r.r_info),
                             .addend = r.r_addend,
                             .symbol = name,
                             .value = symbol.st_value,
                             .size = symbol.st_size,
                             .imported = name && symbol.st_shndx == SHN_UNDEF,
                             .weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK,
                             .function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC,
                             .chosen = symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC,
                             .of_plt = of_plt};
        if (row.type && (of_plt || !is_of_plt(elf, elf_dynamic_value(elf, table, 0, 0) + off)))
            VEC_PUSH(found, row);
    }
}

static void add_packed(const ElfFile *elf, ElfRelocations *found) {
    ElfPointers packed = {0};
    elf_packed_pointers(elf, &packed);
    for (size_t i = 0; i < packed.len; i++)
        VEC_PUSH(found, ((ElfRelocation){
                            .at = packed.at[i].at, .type = elf->isa->elf_relative, .addend = (i64)packed.at[i].to}));
    VEC_FREE(&packed);
}

void elf_relocations(const ElfFile *elf, ElfRelocations *found) {
    add_packed(elf, found);
    add_relocations(elf, DT_RELA, DT_RELASZ, false, found);
    add_relocations(elf, DT_JMPREL, DT_PLTRELSZ, true, found);
}

void elf_exported_functions(const ElfFile *elf, ElfPointers *found) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    for (Elf_Data *data; (data = next_symbols(elf, &section, &header));) {
        GElf_Sym symbol;
        for (int i = 1; gelf_getsym(data, i, &symbol); i++)
            if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && elf_is_code(elf, symbol.st_value))
                VEC_PUSH(found, ((ElfPointer){0, symbol.st_value}));
    }
}
