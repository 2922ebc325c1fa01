/* object.c: the global symbols of an object file or a library, and where a linker has put one of them. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <unistd.h>

#include "elf/parts.h"

bool elf_is_object(const char *path) {
    Elf64_Ehdr h;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is = fd >= 0 && read(fd, &h, sizeof(h)) == sizeof(h) && !memcmp(h.e_ident, ELFMAG, SELFMAG) &&
              h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_ident[EI_DATA] == ELFDATA2LSB && h.e_type == ET_REL;
    if (fd >= 0)
        close(fd);
    return is;
}

/* A symbol table of the file, and what is found in it. */
typedef struct Table {
    Elf *libelf;
    Elf_Data *data, *versions; /* of a library: the number of each symbol's version; NULL: there are none */
    u32 names;                 /* the section with its strings */
    Arena *arena;
    ElfObjectSymbols *found;
} Table;

static const char *name_of(const Table *t, const GElf_Sym *sym) {
    const char *name = elf_strptr(t->libelf, t->names, sym->st_name);
    return name ? name : "";
}

static bool is_global(const GElf_Sym *sym) {
    return GELF_ST_BIND(sym->st_info) != STB_LOCAL && GELF_ST_TYPE(sym->st_info) != STT_SECTION;
}

static void add_symbol(Table *t, const GElf_Sym *sym) {
    unsigned type = GELF_ST_TYPE(sym->st_info);
    ElfObjectSymbol s = {.name = arena_printf(t->arena, "%s", name_of(t, sym)),
                         .defined = sym->st_shndx != SHN_UNDEF,
                         .absolute = sym->st_shndx == SHN_ABS,
                         .weak = GELF_ST_BIND(sym->st_info) == STB_WEAK,
                         .function = type == STT_FUNC || type == STT_GNU_IFUNC,
                         .thread = type == STT_TLS,
                         .chosen = type == STT_GNU_IFUNC,
                         .value = sym->st_value,
                         .size = sym->st_size};
    VEC_PUSH(t->found, s);
}

static ElfObjectSymbol *find(ElfObjectSymbols *all, const char *name) {
    for (size_t i = 0; i < all->len; i++)
        if (!strcmp(all->at[i].name, name))
            return &all->at[i];
    return NULL;
}

/* How far relocations lead from the symbols that they name. */
static void note_addends(Table *t, Elf_Scn *section) {
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Rela row;
    for (int i = 0; data && gelf_getrela(data, i, &row); i++) {
        GElf_Sym sym;
        if (!gelf_getsym(t->data, (int)GELF_R_SYM(row.r_info), &sym) || !is_global(&sym) || sym.st_shndx != SHN_UNDEF)
            continue;
        ElfObjectSymbol *s = find(t->found, name_of(t, &sym));
        if (s && row.r_addend < s->low)
            s->low = row.r_addend;
        if (s && row.r_addend > s->high)
            s->high = row.r_addend;
    }
}

static void read_table(Table *t) {
    GElf_Sym sym;
    for (int i = 1; gelf_getsym(t->data, i, &sym); i++)
        if (is_global(&sym) && *name_of(t, &sym))
            add_symbol(t, &sym);
}

static Elf_Data *find_data(const Table *t, u32 type, GElf_Shdr *header) {
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(t->libelf, section)))
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return elf_getdata(section, NULL);
    return NULL;
}

static bool find_table(Table *t, u32 type) {
    GElf_Shdr header;
    t->data = find_data(t, type, &header);
    t->names = t->data ? header.sh_link : 0;
    return t->data;
}

/* Older versions of a symbol are for programs that were linked with them. */
static bool is_offered(const Table *t, int index, const GElf_Sym *sym) {
    enum { OLD_VERSION = 0x8000 };
    GElf_Versym version = 1;
    if (t->versions && gelf_getversym(t->versions, index, &version) && (!version || version & OLD_VERSION))
        return false;
    return is_global(sym) && sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS && *name_of(t, sym);
}

static bool read_offered(Table *t, ElfError *error) {
    GElf_Shdr header;
    GElf_Sym sym;
    if (!find_table(t, SHT_DYNSYM))
        return elf_fail(error, LATHE_ERR_ARGUMENT, "a library without section headers");
    t->versions = find_data(t, SHT_GNU_versym, &header);
    for (int i = 1; gelf_getsym(t->data, i, &sym); i++)
        if (is_offered(t, i, &sym))
            add_symbol(t, &sym);
    return true;
}

static bool read_all(Table *t, ElfError *error) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (!find_table(t, SHT_SYMTAB))
        return elf_fail(error, LATHE_ERR_ARGUMENT, "an object file without symbols");
    read_table(t);
    while ((section = elf_nextscn(t->libelf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
            note_addends(t, section);
    return true;
}

static bool read_file(const char *path, bool (*read)(Table *t, ElfError *error), Arena *arena, ElfObjectSymbols *found,
                      LatheArch *arch, ElfError *error) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return elf_fail(error, LATHE_ERR_ARGUMENT, "%s", strerror(errno));
    elf_version(EV_CURRENT);
    Table t = {.libelf = elf_begin(fd, ELF_C_READ, NULL), .arena = arena, .found = found};
    GElf_Ehdr header;
    const Isa *isa = t.libelf && gelf_getehdr(t.libelf, &header) ? isa_of_machine(header.e_machine) : NULL;
    bool ok = isa || elf_fail(error, LATHE_ERR_ARCH, "a file of a machine that is not known, or broken");
    if (ok)
        *arch = isa->arch;
    ok = ok && read(&t, error);
    elf_end(t.libelf);
    close(fd);
    return ok;
}

bool elf_object_symbols(const char *path, Arena *arena, ElfObjectSymbols *found, LatheArch *arch, ElfError *error) {
    return read_file(path, read_all, arena, found, arch, error);
}

bool elf_library_symbols(const char *path, Arena *arena, ElfObjectSymbols *found, LatheArch *arch, ElfError *error) {
    return read_file(path, read_offered, arena, found, arch, error);
}

/* ------------------------------------------------------------------------------------------------ where a symbol is now */

static bool value_in(const ElfFile *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name, u64 *value) {
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym sym;
    for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
        const char *own = elf_strptr(elf->libelf, header->sh_link, sym.st_name);
        if (sym.st_shndx == SHN_UNDEF || GELF_ST_TYPE(sym.st_info) == STT_SECTION || !own || strcmp(own, name))
            continue;
        *value = sym.st_value;
        return true;
    }
    return false;
}

bool elf_symbol_value(const ElfFile *elf, const char *name, u64 *value) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf->libelf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            return value_in(elf, section, &header, name, value);
    return false;
}
