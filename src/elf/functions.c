/* functions.c: which functions an ELF file has, from its two symbol tables and its unwind table, and finding one by
 * name. */
#include <gelf.h>
#include <stdlib.h>

#include "elf/parts.h"

/* Global names are what people know; a local name still beats none. */
static u8 rank_of(const GElf_Sym *sym) {
    switch (GELF_ST_BIND(sym->st_info)) {
    case STB_GLOBAL:
        return 0;
    case STB_WEAK:
        return 1;
    default:
        return 2;
    }
}

static bool is_function(const ElfFile *elf, const GElf_Sym *sym) {
    unsigned type = GELF_ST_TYPE(sym->st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym->st_shndx == SHN_UNDEF)
        return false;
    const Segment *s = elf_segment(elf, sym->st_value);
    return s && s->executable;
}

static void add_symbol(ElfFile *elf, const GElf_Sym *sym, const char *name) {
    u64 room = elf_segment(elf, sym->st_value)->end - sym->st_value;
    Symbol s = {
        .addr = sym->st_value,
        .size = sym->st_size <= room ? sym->st_size : room,
        .name = name,
        .rank = rank_of(sym),
    };
    VEC_PUSH(&elf->symbols, s);
}

static bool add_table(ElfFile *elf, Elf_Scn *section, const GElf_Shdr *header, ElfError *error) {
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || header->sh_entsize != sizeof(Elf64_Sym))
        return elf_fail(error, LATHE_ERR_ARGUMENT, "broken: a symbol table cannot be read");
    size_t count = data->d_size / sizeof(Elf64_Sym);
    for (size_t i = 0; i < count; i++) {
        GElf_Sym sym;
        if (!gelf_getsym(data, (int)i, &sym) || !is_function(elf, &sym))
            continue;
        const char *name = elf_strptr(elf->libelf, header->sh_link, sym.st_name);
        if (name && *name)
            add_symbol(elf, &sym, name);
    }
    return true;
}

static bool add_tables(ElfFile *elf, ElfError *error) {
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf->libelf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            return elf_fail(error, LATHE_ERR_ARGUMENT, "broken: a section header cannot be read");
        bool symbols = header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM;
        if (symbols && !add_table(elf, section, &header, error))
            return false;
    }
    return true;
}

static int compare(const void *a, const void *b) {
    const Symbol *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank - y->rank;
    return x->name && y->name ? strcmp(x->name, y->name) : 0;
}

/* One function per address: the best name, and a size if any symbol there has one. */
static void merge_symbols(ElfFile *elf) {
    for (size_t i = 0; i < elf->symbols.len; i++) {
        const Symbol *s = &elf->symbols.at[i];
        ElfFunction *last = elf->functions.len ? &elf->functions.at[elf->functions.len - 1] : NULL;
        if (last && last->addr == s->addr) {
            last->size = last->size ? last->size : s->size;
            continue;
        }
        ElfFunction f = {.addr = s->addr, .size = s->size, .name = s->name};
        VEC_PUSH(&elf->functions, f);
    }
}

/* How well a symbol's name fits what was asked for: 0 not at all, 1 another version, 2 the default version, 3 exactly.
 */
static int match(const char *name, const char *wanted) {
    size_t len = strlen(wanted);
    if (!name || strncmp(name, wanted, len) != 0)
        return 0;
    if (name[len] == '\0')
        return 3;
    return name[len] != '@' ? 0 : name[len + 1] == '@' ? 2 : 1;
}

bool elf_load_functions(ElfFile *elf, ElfError *error) {
    if (!add_tables(elf, error))
        return false;
    elf_load_unwind(elf);
    if (elf->symbols.len)
        qsort(elf->symbols.at, elf->symbols.len, sizeof(*elf->symbols.at), compare);
    merge_symbols(elf);
    return true;
}

size_t elf_functions(const ElfFile *elf, const ElfFunction **functions) {
    *functions = elf->functions.at;
    return elf->functions.len;
}

/* How many functions begin before addr. */
static size_t count_before(const ElfFile *elf, u64 addr) {
    size_t low = 0, high = elf->functions.len;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (elf->functions.at[mid].addr < addr)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

ElfFunction elf_function_at(const ElfFile *elf, u64 addr) {
    size_t low = count_before(elf, addr);
    if (low < elf->functions.len && elf->functions.at[low].addr == addr)
        return elf->functions.at[low];
    return (ElfFunction){.addr = addr};
}

const ElfFunction *elf_function_around(const ElfFile *elf, u64 addr) {
    size_t before = count_before(elf, addr);
    const ElfFunction *f = before ? &elf->functions.at[before - 1] : NULL;
    return f && addr - f->addr < f->size && elf_function_at(elf, addr).size == 0 ? f : NULL;
}

static bool lookup_address(const ElfFile *elf, const char *text, ElfFunction *function) {
    char *end;
    u64 addr = strtoull(text, &end, 16);
    const Segment *s = elf_segment(elf, addr);
    if (*end || !s || !s->executable)
        return false;
    *function = elf_function_at(elf, addr);
    return true;
}

bool elf_lookup(const ElfFile *elf, const char *text, ElfFunction *function) {
    if (strncmp(text, "0x", 2) == 0)
        return lookup_address(elf, text, function);
    int best = 0;
    for (size_t i = 0; i < elf->symbols.len && best < 3; i++) {
        const Symbol *s = &elf->symbols.at[i];
        int fit = match(s->name, text);
        if (fit > best) {
            best = fit;
            *function = (ElfFunction){.addr = s->addr, .size = s->size, .name = s->name};
        }
    }
    return best > 0;
}
