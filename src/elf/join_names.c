/* join_names.c: which definition a name leads to, in a program and its libraries (elf_join).
 *
 * As the dynamic linker does it: the first file in the order of search that defines the name, whoever refers to it. Of several versions of one file, the default one counts. */
#include "elf/join.h"

static u64 hash_of(const char *name) {
    u64 hash = 0xcbf29ce484222325;
    for (; *name; name++)
        hash = (hash ^ (u8)*name) * 0x100000001b3;
    return hash;
}

static bool is_hidden_version(const ElfFile *elf, u32 number) {
    u64 versions = elf_dynamic_value(elf, DT_VERSYM, 0, 0);
    const u8 *bytes = versions ? elf_contents(elf, versions + number * sizeof(u16), sizeof(u16)) : NULL;
    return bytes && bytes[1] & 0x80;
}

static bool is_seen(const Elf64_Sym *symbol) {
    u8 bind = ELF64_ST_BIND(symbol->st_info), visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    return bind != STB_LOCAL && (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

void join_names_load(JoinNames *n, const ElfFile *elf) {
    u32 count = elf_dynamic_symbols(elf), other;
    for (u32 i = 1; i < count; i++) {
        Elf64_Sym symbol;
        const char *name;
        if (!elf_dynamic_symbol(elf, i, &symbol, &name) || !*name)
            continue;
        u64 hash = hash_of(name);
        if (symbol.st_shndx == SHN_UNDEF)
            map64_set(&n->needed, hash, i);
        else if (is_seen(&symbol) && (!map64_get(&n->defined, hash, &other) || is_hidden_version(elf, other)))
            map64_set(&n->defined, hash, i);
    }
}

void join_names_free(JoinNames *n) {
    map64_free(&n->defined);
    map64_free(&n->needed);
}

static bool has(const Map64 *symbols, const ElfFile *elf, const char *name, Elf64_Sym *symbol) {
    u32 number;
    const char *own;
    return map64_get(symbols, hash_of(name), &number) && elf_dynamic_symbol(elf, number, symbol, &own) &&
           !strcmp(own, name);
}

static bool looks_at_itself_first(const ElfFile *elf) {
    return elf_dynamic_value(elf, DT_FLAGS, 0, 0) & DF_SYMBOLIC || elf_dynamic_value(elf, DT_SYMBOLIC, 0, 1) != 1;
}

/* In the order of search, from that part on. */
static bool find_from(const ElfParts *parts, const JoinNames *names, size_t first, const char *name, JoinTarget *to) {
    for (to->part = first; to->part < parts->len; to->part++)
        if (has(&names[to->part].defined, parts->at[to->part].elf, name, &to->symbol))
            return true;
    return false;
}

bool join_find_library(const ElfParts *parts, const JoinNames *names, const char *name, JoinTarget *to) {
    return find_from(parts, names, 1, name, to);
}

bool join_find(const ElfParts *parts, const JoinNames *names, size_t from, const char *name, JoinTarget *to) {
    to->part = from;
    if (looks_at_itself_first(parts->at[from].elf) && has(&names[from].defined, parts->at[from].elf, name, &to->symbol))
        return true;
    return find_from(parts, names, 0, name, to);
}

bool join_find_for(const ElfParts *parts, const JoinNames *names, size_t from, const ElfRelocation *row,
                   JoinTarget *to) {
    Elf64_Sym own;
    bool is_own = !row->imported && has(&names[from].defined, parts->at[from].elf, row->symbol, &own) &&
                  own.st_value == row->value;
    bool is_private = !row->imported && (!is_own || ELF64_ST_VISIBILITY(own.st_other) == STV_PROTECTED);
    if (!is_private)
        return join_find(parts, names, from, row->symbol, to);
    u8 type = row->function ? STT_FUNC : STT_NOTYPE;
    *to = (JoinTarget){from, {.st_value = row->value, .st_size = row->size, .st_shndx = 1, .st_info = type}};
    return true;
}

bool join_is_seen_outside(const ElfParts *parts, const JoinNames *names, size_t part, const char *name) {
    JoinTarget found;
    Elf64_Sym symbol;
    if (!join_find(parts, names, part, name, &found) || found.part != part)
        return false;
    for (size_t i = 0; i < parts->len; i++) {
        const ElfFile *elf = parts->at[i].elf;
        if (parts->at[i].outside &&
            (has(&names[i].defined, elf, name, &symbol) || has(&names[i].needed, elf, name, &symbol)))
            return true;
    }
    return false;
}
