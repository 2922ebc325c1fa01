/* process.c: see process.h. */
#include "base/process.h"

typedef struct Search {
    u64 addr;
    void (*look)(const ProcessFile *file, void *user);
    void *user;
} Search;

static bool has(const ProcessFile *f, u64 addr) {
    for (u32 i = 0; i < f->segment_count; i++)
        if (f->segments[i].p_type == PT_LOAD && addr - f->base - f->segments[i].p_vaddr < f->segments[i].p_memsz)
            return true;
    return false;
}

static void find_ends(ProcessFile *f) {
    f->start = ~(u64)0;
    for (u32 i = 0; i < f->segment_count; i++) {
        const ElfW(Phdr) *p = &f->segments[i];
        u64 first = f->base + p->p_vaddr;
        if (p->p_type != PT_LOAD)
            continue;
        f->start = first < f->start ? first : f->start;
        f->end = first + p->p_memsz > f->end ? first + p->p_memsz : f->end;
    }
}

static int look_at_one(struct dl_phdr_info *info, size_t size, void *user) {
    const Search *s = user;
    ProcessFile f = {info->dlpi_name, info->dlpi_addr, 0, 0, info->dlpi_phdr, info->dlpi_phnum, info->dlpi_subs};
    (void)size;
    if (!has(&f, s->addr))
        return 0;
    find_ends(&f);
    s->look(&f, s->user);
    return 1;
}

bool process_look_at(u64 addr, void (*look)(const ProcessFile *file, void *user), void *user) {
    Search s = {addr, look, user};
    return dl_iterate_phdr(look_at_one, &s) != 0;
}

static const ElfW(Dyn) * dynamic_section(const ProcessFile *f) {
    for (u32 i = 0; i < f->segment_count; i++)
        if (f->segments[i].p_type == PT_DYNAMIC)
            return (const ElfW(Dyn) *)(f->base + f->segments[i].p_vaddr);
    return NULL;
}

u64 process_number(const ProcessFile *f, i64 tag) {
    for (const ElfW(Dyn) *d = dynamic_section(f); d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag)
            return d->d_un.d_val;
    return 0;
}

/* The dynamic linker has added the base already where it could write to the section; the kernel's own file is read-only. */
const void *process_table(const ProcessFile *f, i64 tag) {
    u64 at = process_number(f, tag);
    return (const void *)(at && at < f->start ? at + f->base : at);
}

/* ------------------------------------------------------------------------------------------------------------ symbols */

typedef struct Symbols {
    const ElfW(Sym) * at;
    const char *names;
} Symbols;

static Symbols symbols_of(const ProcessFile *f) {
    return (Symbols){process_table(f, DT_SYMTAB), process_table(f, DT_STRTAB)};
}

static const char *name_of(const Symbols *s, const ElfW(Rela) * rela) {
    return s->at && s->names ? s->names + s->at[ELF64_R_SYM(rela->r_info)].st_name : "";
}

const char *process_name_of(const ProcessFile *f, const ElfW(Rela) * rela) {
    Symbols s = symbols_of(f);
    return name_of(&s, rela);
}

const ElfW(Rela) * process_relocation(const ProcessFile *f, i64 table, i64 size, u64 addr, const char *name) {
    const ElfW(Rela) *rela = process_table(f, table);
    u64 count = rela ? process_number(f, size) / sizeof(*rela) : 0;
    Symbols s = symbols_of(f);
    for (u64 i = 0; i < count; i++)
        if (name ? !strcmp(name_of(&s, &rela[i]), name) : rela[i].r_offset + f->base == addr)
            return &rela[i];
    return NULL;
}

/* Only the hash tables say how many there are. That of GNU has the symbols in the order of its buckets, and marks the last of each. */
static u32 count_symbols(const ProcessFile *f) {
    const u32 *hash = process_table(f, DT_HASH), *gnu = process_table(f, DT_GNU_HASH);
    if (hash || !gnu)
        return hash ? hash[1] : 0;
    u32 bucket_count = gnu[0], first = gnu[1], last = 0;
    const u32 *buckets = gnu + 4 + gnu[2] * (sizeof(ElfW(Addr)) / sizeof(u32)), *chains = buckets + bucket_count;
    for (u32 i = 0; i < bucket_count; i++)
        last = buckets[i] > last ? buckets[i] : last;
    if (last < first)
        return first;
    while (!(chains[last - first] & 1))
        last++;
    return last + 1;
}

const char *process_ask_names(const ProcessFile *f, u64 addr, const char *(*ask)(const char *name)) {
    Symbols s = symbols_of(f);
    u32 count = s.at && s.names ? count_symbols(f) : 0;
    const char *answer = NULL;
    for (u32 i = 0; i < count && !answer; i++)
        if (s.at[i].st_value == addr - f->base && s.at[i].st_shndx != SHN_UNDEF)
            answer = ask(s.names + s.at[i].st_name);
    return answer;
}
