/* join.c: a program and its libraries as one program, as if they had been linked statically.
 *
 * Each file keeps its layout and is moved as a whole. Behind them come the tables of the dynamic linker: symbols and relocations for what is still outside,
 * relocations without symbols for what is known now, one list of constructors and one of destructors, and one block of thread-local variables. The file is laid out as memory is:
 * places in it are addresses. */
#include "elf/join.h"

enum { PART_ALIGN = 65536, JOINED_MAX = 256 << 20, SECTIONS = 6 };

/* A variable of a library that is in the program instead. */
typedef struct Copy {
    u64 from, to, size; /* addresses in the new file */
} Copy;

typedef struct Join {
    ElfParts *parts;
    const Isa *isa;
    JoinNames *names; /* of each part */
    u64 *thread;      /* where each part's thread-local variables are in the common block */
    u64 thread_at, thread_bytes, thread_align;
    bool moves_thread;
    VEC(u8) bytes; /* the new file */
    VEC(Elf64_Rela) data, calls;
    VEC(Elf64_Sym) symbols, functions;
    VEC(char) texts;
    VEC(Elf64_Phdr) headers;
    VEC(Elf64_Dyn) dynamic;
    VEC(u64) first_run, last_run; /* constructors, destructors */
    VEC(Copy) copies;
    Map64 slots; /* words of known functions, which calls go through: index in slot_targets */
    VEC(u64) slot_targets;
    Map64 used_slots, linked_slots;
    ElfError *error;
} Join;

static u64 align_up(u64 v, u64 align) {
    return (v + align - 1) / align * align;
}

static bool fail_part(Join *j, size_t part, const char *why) {
    return elf_fail(j->error, LATHE_ERR_ARGUMENT, "%s: %s", j->parts->at[part].name, why);
}

/* ---------------------------------------------------------------------------------------------------------------- layout */

static void grow(Join *j, u64 size) {
    if (size <= j->bytes.len)
        return;
    u64 more = size - j->bytes.len;
    VEC_RESERVE(&j->bytes, more);
    memset(j->bytes.at + j->bytes.len, 0, more);
    j->bytes.len = size;
}

static u64 append(Join *j, const void *bytes, u64 size, u64 align) {
    u64 at = align_up(j->bytes.len, align);
    grow(j, at + size);
    if (size)
        memcpy(j->bytes.at + at, bytes, size);
    return at;
}

static bool place(Join *j, size_t index) {
    ElfPart *part = &j->parts->at[index];
    ElfExtent extent = elf_extent(part->elf);
    if ((index && !extent.position_independent) || extent.start % ELF_PAGE || extent.end > JOINED_MAX)
        return fail_part(j, index, "it is not position-independent, or too large");
    part->shift = index ? align_up(j->bytes.len, PART_ALIGN) - extent.start : 0;
    if (part->shift + extent.end > JOINED_MAX)
        return fail_part(j, index, "the program and its libraries are too large");
    grow(j, part->shift + extent.end);
    for (size_t i = 0; i < part->elf->segments.len; i++) {
        const Segment *s = &part->elf->segments.at[i];
        memcpy(j->bytes.at + part->shift + s->start, s->bytes, s->byte_count);
    }
    return true;
}

static bool place_all(Join *j) {
    for (size_t i = 0; i < j->parts->len; i++)
        if (!j->parts->at[i].outside && !place(j, i))
            return false;
    return true;
}

/* -------------------------------------------------------------------------------------------------- thread-local variables */

static Elf64_Phdr thread_part(const Join *j, size_t part) {
    return elf_program_header(j->parts->at[part].elf, PT_TLS);
}

static bool check_thread(Join *j, size_t part) {
    Elf64_Phdr p = thread_part(j, part);
    return j->parts->at[part].outside || p.p_type != PT_TLS ||
           (p.p_memsz <= JOINED_MAX && p.p_align <= ELF_PAGE && p.p_filesz <= p.p_memsz &&
            (!p.p_filesz || elf_contents(j->parts->at[part].elf, p.p_vaddr, p.p_filesz))) ||
           fail_part(j, part, "its thread-local variables are too large, or broken");
}

/* The program's own code knows how far its variables are from the thread pointer, which is behind all of them, or before. */
static bool place_thread(Join *j) {
    bool is_below = j->isa->abi.thread_bytes;
    Elf64_Phdr own = thread_part(j, 0);
    u64 own_align = own.p_align ? own.p_align : 1, own_size = align_up(own.p_memsz, own_align);
    u64 end = is_below ? 0 : own_size, align = own_align;
    for (size_t i = 0; i < j->parts->len; i++)
        if (!check_thread(j, i))
            return false;
    for (size_t i = 1; i < j->parts->len; i++) {
        Elf64_Phdr p = thread_part(j, i);
        if (j->parts->at[i].outside || p.p_type != PT_TLS)
            continue;
        u64 own_start = align_up(end, p.p_align ? p.p_align : 1);
        j->moves_thread = true;
        j->thread[i] = own_start;
        align = p.p_align > align ? p.p_align : align;
        end = own_start + p.p_memsz;
    }
    j->thread_align = align;
    j->thread_bytes = is_below ? align_up(end + own_size, align) : end;
    j->thread[0] = is_below ? j->thread_bytes - own_size : 0;
    return j->thread_bytes <= JOINED_MAX || fail_part(j, 0, "it has too many thread-local variables");
}

static void copy_thread(Join *j) {
    if (!j->moves_thread)
        return;
    j->thread_at = append(j, NULL, 0, PART_ALIGN);
    grow(j, j->thread_at + j->thread_bytes);
    for (size_t i = 0; i < j->parts->len; i++) {
        Elf64_Phdr p = thread_part(j, i);
        if (!j->parts->at[i].outside && p.p_type == PT_TLS)
            memcpy(j->bytes.at + j->thread_at + j->thread[i], j->bytes.at + j->parts->at[i].shift + p.p_vaddr,
                   p.p_filesz);
    }
}

/* Where a word of a part is in the new file: what thread-local variables begin with has moved. */
static u64 moved(const Join *j, size_t part, u64 at) {
    Elf64_Phdr p = thread_part(j, part);
    if (j->moves_thread && p.p_type == PT_TLS && at - p.p_vaddr < p.p_filesz)
        return j->thread_at + j->thread[part] + (at - p.p_vaddr);
    return j->parts->at[part].shift + at;
}

/* ----------------------------------------------------------------------------------------------------------- relocations */

static u64 add_text(Join *j, const char *text) {
    u64 at = j->texts.len;
    do
        VEC_PUSH(&j->texts, *text);
    while (*text++);
    return at;
}

/* The number of another file's symbol in the new table. */
static u32 import(Join *j, const ElfRelocation *row) {
    for (u32 i = 1; i < j->symbols.len; i++)
        if (j->symbols.at[i].st_shndx == SHN_UNDEF && !strcmp(j->texts.at + j->symbols.at[i].st_name, row->symbol))
            return i;
    u8 bind = row->weak ? STB_WEAK : STB_GLOBAL, type = row->function ? STT_FUNC : STT_NOTYPE;
    Elf64_Sym symbol = {
        .st_name = (u32)add_text(j, row->symbol), .st_info = ELF64_ST_INFO(bind, type), .st_size = row->size};
    VEC_PUSH(&j->symbols, symbol);
    return (u32)j->symbols.len - 1;
}

static void emit(Join *j, u64 at, u64 number, u32 type, u64 addend, bool of_plt) {
    Elf64_Rela r = {at, ELF64_R_INFO(number, type), (i64)addend};
    u32 index;
    if (map64_get(&j->linked_slots, at, &index) && !map64_get(&j->used_slots, at, &index))
        return;
    if (of_plt)
        VEC_PUSH(&j->calls, r);
    else
        VEC_PUSH(&j->data, r);
    for (size_t i = 0; i < j->copies.len; i++) {
        const Copy *c = &j->copies.at[i];
        if (at - c->from < c->size)
            emit(j, c->to + (at - c->from), number, type, addend, of_plt);
    }
}

static bool relocate_import(Join *j, size_t part, const ElfRelocation *row) {
    if (!row->symbol)
        return fail_part(j, part, "a relocation has no symbol");
    emit(j, moved(j, part, row->at), import(j, row), row->type, (u64)row->addend, row->of_plt);
    return true;
}

static bool relocate_known(Join *j, size_t part, const ElfRelocation *row, const JoinTarget *to) {
    u64 value = j->parts->at[to->part].shift + to->symbol.st_value + (u64)row->addend;
    bool chosen = ELF64_ST_TYPE(to->symbol.st_info) == STT_GNU_IFUNC;
    emit(j, moved(j, part, row->at), 0, chosen ? j->isa->elf_chosen : j->isa->elf_relative, value, false);
    return true;
}

static bool relocate_thread(Join *j, size_t part, const ElfRelocation *row, const JoinTarget *to) {
    u64 value = to->symbol.st_value + (u64)row->addend;
    Elf64_Phdr own = thread_part(j, to->part);
    if (own.p_type != PT_TLS)
        return fail_part(j, to->part, "it has no thread-local variables, and another file needs one of it");
    emit(j, moved(j, part, row->at), 0, row->type, value + (j->moves_thread ? j->thread[to->part] : 0), row->of_plt);
    return true;
}

/* The word behind it is the variable's place among those of its file, if no relocation is for that. */
static bool relocate_module(Join *j, size_t part, const ElfRelocation *row) {
    u64 at = moved(j, part, row->at), off;
    if (!row->symbol && at + 16 <= j->bytes.len) {
        memcpy(&off, j->bytes.at + at + 8, sizeof(off));
        off += j->moves_thread ? j->thread[part] : 0;
        memcpy(j->bytes.at + at + 8, &off, sizeof(off));
    }
    emit(j, at, 0, row->type, 0, row->of_plt);
    return true;
}

/* Does the program have a copy of a variable of a library that is joined? */
static bool is_copied(const Join *j, const ElfRelocation *row) {
    for (size_t i = 0; i < j->copies.len; i++)
        if (j->copies.at[i].to == row->at)
            return true;
    return false;
}

static bool relocate_row(Join *j, size_t part, const ElfRelocation *row) {
    RelocationKind kind = j->isa->relocation_kind(row->type);
    JoinTarget to = {.part = part};
    bool is_known =
        !row->symbol || (join_find_for(j->parts, j->names, part, row, &to) && !j->parts->at[to.part].outside);
    switch (kind) {
    case RELOCATION_RELATIVE:
    case RELOCATION_CHOSEN:
        emit(j, moved(j, part, row->at), 0, row->type, (u64)row->addend + j->parts->at[part].shift, row->of_plt);
        return true;
    case RELOCATION_COPY:
        return is_copied(j, row) || relocate_import(j, part, row);
    case RELOCATION_ADDRESS:
        return is_known && row->symbol ? relocate_known(j, part, row, &to) : relocate_import(j, part, row);
    case RELOCATION_THREAD:
    case RELOCATION_OFFSET:
        return is_known ? relocate_thread(j, part, row, &to) : relocate_import(j, part, row);
    case RELOCATION_MODULE:
        return is_known ? relocate_module(j, part, row) : relocate_import(j, part, row);
    case RELOCATION_OTHER:
        return fail_part(j, part, "it has a relocation of a kind that is not known");
    }
    return false;
}

/* Calls `what` for each relocation of the files that are joined. */
static bool each_relocation(Join *j, bool (*what)(Join *j, size_t part, const ElfRelocation *row)) {
    bool ok = true;
    for (size_t i = 0; ok && i < j->parts->len; i++) {
        ElfRelocations rows = {0};
        if (j->parts->at[i].outside)
            continue;
        elf_relocations(j->parts->at[i].elf, &rows);
        for (size_t k = 0; ok && k < rows.len; k++)
            ok = elf_segment(j->parts->at[i].elf, rows.at[k].at) && rows.at[k].at <= JOINED_MAX - 8
                     ? what(j, i, &rows.at[k])
                     : fail_part(j, i, "a relocation is outside the image");
        VEC_FREE(&rows);
    }
    return ok;
}

static bool is_between(u64 at, u64 size, u64 start, u64 end) {
    return at >= start && at <= end && size <= end - at;
}

/* A variable that the program has a copy of: it begins as the library has it. */
static bool note_copy(Join *j, size_t part, const ElfRelocation *row) {
    JoinTarget from;
    if (j->isa->relocation_kind(row->type) != RELOCATION_COPY || !row->symbol || part ||
        !join_find_library(j->parts, j->names, row->symbol, &from) || j->parts->at[from.part].outside)
        return true;
    Copy copy = {j->parts->at[from.part].shift + from.symbol.st_value, row->at, from.symbol.st_size};
    u64 end = elf_extent(j->parts->at[0].elf).end; /* of the program, which has the copy, and before the libraries */
    if (!is_between(copy.from, copy.size, end, j->bytes.len) || !is_between(copy.to, copy.size, 0, end))
        return fail_part(j, from.part, "a variable is outside the image");
    memmove(j->bytes.at + copy.to, j->bytes.at + copy.from, copy.size);
    VEC_PUSH(&j->copies, copy);
    return true;
}

/* ------------------------------------------------------------------------------------------------------- calls by slots */

/* The dynamic linker's words for functions that are known now. */
static bool note_slot(Join *j, size_t part, const ElfRelocation *row) {
    JoinTarget to;
    if (j->isa->relocation_kind(row->type) != RELOCATION_ADDRESS || row->type == j->isa->elf_symbolic || !row->symbol ||
        !join_find_for(j->parts, j->names, part, row, &to) || j->parts->at[to.part].outside ||
        ELF64_ST_TYPE(to.symbol.st_info) != STT_FUNC)
        return true;
    map64_set(&j->slots, j->parts->at[part].shift + row->at, (u32)j->slot_targets.len);
    VEC_PUSH(&j->slot_targets, j->parts->at[to.part].shift + to.symbol.st_value + (u64)row->addend);
    return true;
}

/* Calls through such words become direct ones. A word that nothing else uses needs no contents. */
static void link_segment(Join *j, u64 start, u64 size) {
    for (u64 at = start; at < start + size; at++) {
        u64 slot;
        u32 index;
        SlotUse use = j->isa->slot_use(j->bytes.at + at, start + size - at, at, &slot);
        if (use == SLOT_UNUSED || !map64_get(&j->slots, slot, &index))
            continue;
        bool linked = use == SLOT_CALLED && j->isa->link_call(j->bytes.at + at, at, j->slot_targets.at[index]);
        map64_set(linked ? &j->linked_slots : &j->used_slots, slot, 1);
        at += linked ? 5 : 0;
    }
}

static bool link_calls(Join *j) {
    if (!j->isa->slot_use)
        return true;
    if (!each_relocation(j, note_slot))
        return false;
    for (size_t i = 0; i < j->parts->len; i++) {
        const ElfPart *part = &j->parts->at[i];
        for (size_t k = 0; !part->outside && k < part->elf->segments.len; k++) {
            const Segment *s = &part->elf->segments.at[k];
            if (s->executable)
                link_segment(j, part->shift + s->start, s->byte_count);
        }
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- lists */

static bool add_array(Join *j, size_t part, i64 table, i64 table_size, bool first) {
    const ElfPart *p = &j->parts->at[part];
    u64 at = elf_dynamic_value(p->elf, table, 0, 0), size = elf_dynamic_value(p->elf, table_size, 0, 0);
    for (u64 off = 0; off + 8 <= size; off += 8) {
        u64 pc;
        if (elf_read(p->elf, at + off, &pc, sizeof(pc)) != sizeof(pc))
            return fail_part(j, part, "its list of constructors is not in the image");
        if (!pc || pc == ~(u64)0)
            continue;
        if (first)
            VEC_PUSH(&j->first_run, p->shift + pc);
        else
            VEC_PUSH(&j->last_run, p->shift + pc);
    }
    return true;
}

static bool add_lists(Join *j, size_t part) {
    const ElfPart *p = &j->parts->at[part];
    u64 init = elf_dynamic_value(p->elf, DT_INIT, 0, 0), fini = elf_dynamic_value(p->elf, DT_FINI, 0, 0);
    if (init)
        VEC_PUSH(&j->first_run, p->shift + init);
    if (fini)
        VEC_PUSH(&j->last_run, p->shift + fini); /* the list is run from its end */
    return add_array(j, part, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, true) &&
           add_array(j, part, DT_FINI_ARRAY, DT_FINI_ARRAYSZ, false);
}

/* What a file needs is ready before it. */
static bool add_lists_of(Join *j, size_t part, bool *done) {
    const char *name;
    if (done[part])
        return true;
    done[part] = true;
    for (size_t i = 0; (name = elf_dynamic_text(j->parts->at[part].elf, DT_NEEDED, i)); i++)
        for (size_t k = 0; k < j->parts->len; k++)
            if (!strcmp(j->parts->at[k].name, name) && !add_lists_of(j, k, done))
                return false;
    return j->parts->at[part].outside || add_lists(j, part);
}

static void add_dynamic(Join *j, i64 tag, u64 value) {
    VEC_PUSH(&j->dynamic, ((Elf64_Dyn){.d_tag = tag, .d_un.d_val = value}));
}

static u64 append_list(Join *j, const u64 *list, size_t count) {
    u64 at = append(j, list, count * 8, 8);
    for (size_t i = 0; i < count; i++)
        emit(j, at + 8 * i, 0, j->isa->elf_relative, list[i], false);
    return at;
}

static void append_lists(Join *j) {
    add_dynamic(j, DT_INIT_ARRAY, append_list(j, j->first_run.at, j->first_run.len));
    add_dynamic(j, DT_INIT_ARRAYSZ, j->first_run.len * 8);
    add_dynamic(j, DT_FINI_ARRAY, append_list(j, j->last_run.at, j->last_run.len));
    add_dynamic(j, DT_FINI_ARRAYSZ, j->last_run.len * 8);
}

/* ---------------------------------------------------------------------------------------------------------------- tables */

/* Symbols of the program that libraries outside would find, and names of functions. */
static void add_symbols(Join *j, size_t part) {
    const ElfPart *p = &j->parts->at[part];
    const ElfFunction *functions;
    size_t count = elf_functions(p->elf, &functions);
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym s = {.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                       .st_shndx = 1,
                       .st_value = p->shift + functions[i].addr,
                       .st_size = functions[i].size};
        if (!functions[i].name)
            continue;
        s.st_name = (u32)add_text(j, functions[i].name);
        VEC_PUSH(&j->functions, s);
    }
    for (u32 i = 1; i < elf_dynamic_symbols(p->elf); i++) {
        Elf64_Sym s;
        const char *name;
        if (!elf_dynamic_symbol(p->elf, i, &s, &name) || s.st_shndx == SHN_UNDEF ||
            ELF64_ST_TYPE(s.st_info) == STT_TLS || !join_is_seen_outside(j->parts, j->names, part, name))
            continue;
        s.st_name = (u32)add_text(j, name);
        s.st_shndx = 1;
        s.st_value += p->shift;
        VEC_PUSH(&j->symbols, s);
    }
}

static void append_dynamic(Join *j, u64 symbols, u64 texts) {
    u64 data = append(j, j->data.at, j->data.len * sizeof(Elf64_Rela), 8);
    u64 calls = append(j, j->calls.at, j->calls.len * sizeof(Elf64_Rela), 8);
    add_dynamic(j, DT_STRTAB, texts);
    add_dynamic(j, DT_STRSZ, j->texts.len);
    add_dynamic(j, DT_SYMTAB, symbols);
    add_dynamic(j, DT_SYMENT, sizeof(Elf64_Sym));
    add_dynamic(j, DT_RELA, data);
    add_dynamic(j, DT_RELASZ, j->data.len * sizeof(Elf64_Rela));
    add_dynamic(j, DT_RELAENT, sizeof(Elf64_Rela));
    add_dynamic(j, DT_JMPREL, calls);
    add_dynamic(j, DT_PLTRELSZ, j->calls.len * sizeof(Elf64_Rela));
    add_dynamic(j, DT_PLTREL, DT_RELA);
    add_dynamic(j, DT_FLAGS, DF_BIND_NOW);
    add_dynamic(j, DT_FLAGS_1, DF_1_NOW | DF_1_PIE);
    add_dynamic(j, DT_NULL, 0);
    u64 at = append(j, j->dynamic.at, j->dynamic.len * sizeof(Elf64_Dyn), 8), size = j->dynamic.len * sizeof(Elf64_Dyn);
    VEC_PUSH(&j->headers, ((Elf64_Phdr){PT_DYNAMIC, PF_R | PF_W, at, at, at, size, size, 8}));
}

/* ------------------------------------------------------------------------------------------------------------------ file */

static Elf64_Phdr header(u32 type, u32 flags, u64 start, u64 size, u64 align) {
    return (Elf64_Phdr){type, flags, start, start, start, size, size, align};
}

static void add_headers(Join *j, size_t part) {
    const ElfPart *p = &j->parts->at[part];
    for (size_t i = 0; i < p->elf->segments.len; i++) {
        const Segment *s = &p->elf->segments.at[i];
        u32 flags = PF_R | (s->writable ? PF_W : 0) | (s->executable ? PF_X : 0);
        VEC_PUSH(&j->headers, header(PT_LOAD, flags, p->shift + s->start, s->end - s->start, ELF_PAGE));
    }
    for (size_t i = 0; i < p->elf->relro.len; i++) {
        LatheRange r = p->elf->relro.at[i];
        VEC_PUSH(&j->headers, header(PT_GNU_RELRO, PF_R, p->shift + r.start, r.end - r.start, 1));
    }
    for (size_t i = 0; i < p->elf->eh_frame_hdrs.len; i++) {
        Elf64_Phdr h = elf_program_header(p->elf, PT_GNU_EH_FRAME);
        VEC_PUSH(&j->headers, header(PT_GNU_EH_FRAME, PF_R, p->shift + h.p_vaddr, h.p_memsz, 4));
    }
}

static void add_thread_header(Join *j) {
    Elf64_Phdr own = thread_part(j, 0);
    if (j->moves_thread) {
        VEC_PUSH(&j->headers, header(PT_LOAD, PF_R, j->thread_at, j->thread_bytes, ELF_PAGE));
        VEC_PUSH(&j->headers, header(PT_TLS, PF_R, j->thread_at, j->thread_bytes, j->thread_align));
    } else if (own.p_type == PT_TLS) {
        own.p_offset = own.p_vaddr;
        VEC_PUSH(&j->headers, own);
    }
}

/* Sections are for tools that look for symbols, ours among them. */
static void append_sections(Join *j, Elf64_Ehdr *h, u64 symbols, u64 functions, u64 texts) {
    static const char names[] = "\0.dynsym\0.dynstr\0.symtab\0.strtab\0.shstrtab";
    u64 own = append(j, names, sizeof(names), 1);
    u64 dynamic_size = j->symbols.len * sizeof(Elf64_Sym), function_size = j->functions.len * sizeof(Elf64_Sym);
    Elf64_Shdr rows[SECTIONS] = {
        {0},
        {1, SHT_DYNSYM, SHF_ALLOC, symbols, symbols, dynamic_size, 2, 1, 8, sizeof(Elf64_Sym)},
        {9, SHT_STRTAB, SHF_ALLOC, texts, texts, j->texts.len, 0, 0, 1, 0},
        {17, SHT_SYMTAB, 0, 0, functions, function_size, 4, (u32)j->functions.len, 8, sizeof(Elf64_Sym)},
        {25, SHT_STRTAB, 0, 0, texts, j->texts.len, 0, 0, 1, 0},
        {33, SHT_STRTAB, 0, 0, own, sizeof(names), 0, 0, 1, 0},
    };
    h->e_shoff = append(j, rows, sizeof(rows), 8);
    h->e_shentsize = sizeof(Elf64_Shdr);
    h->e_shnum = SECTIONS;
    h->e_shstrndx = SECTIONS - 1;
}

/* The interpreter's name is in the program's image. */
static void add_interpreter(Join *j) {
    const char *name = elf_interpreter(j->parts->at[0].elf);
    if (name) {
        u64 at = append(j, name, strlen(name) + 1, 1);
        VEC_PUSH(&j->headers, header(PT_INTERP, PF_R, at, strlen(name) + 1, 1));
    }
}

static void write_file(Join *j) {
    Elf64_Ehdr h;
    u64 start = append(j, NULL, 0, PART_ALIGN);
    memcpy(&h, j->parts->at[0].elf->map, sizeof(h));
    add_interpreter(j);
    for (size_t i = 0; i < j->parts->len; i++)
        if (j->parts->at[i].outside)
            add_dynamic(j, DT_NEEDED, add_text(j, j->parts->at[i].name));
        else
            add_symbols(j, i);
    append_lists(j);
    u64 symbols = append(j, j->symbols.at, j->symbols.len * sizeof(Elf64_Sym), 8);
    u64 functions = append(j, j->functions.at, j->functions.len * sizeof(Elf64_Sym), 8);
    u64 texts = append(j, j->texts.at, j->texts.len, 1);
    append_dynamic(j, symbols, texts);
    append_sections(j, &h, symbols, functions, texts);
    u64 count = j->headers.len + 1, at = align_up(j->bytes.len, 8), end = at + count * sizeof(Elf64_Phdr);
    VEC_PUSH(&j->headers, header(PT_LOAD, PF_R | PF_W, start, end - start, ELF_PAGE));
    append(j, j->headers.at, count * sizeof(Elf64_Phdr), 8);
    h.e_phoff = at;
    h.e_phnum = (u16)count;
    memcpy(j->bytes.at, &h, sizeof(h));
}

static bool relocate_all(Join *j) {
    bool *done = mem_new(j->parts->len);
    bool ok =
        link_calls(j) && each_relocation(j, note_copy) && add_lists_of(j, 0, done) && each_relocation(j, relocate_row);
    mem_free(done);
    return ok;
}

static bool join(Join *j) {
    if (!place_all(j) || !place_thread(j))
        return false;
    copy_thread(j);
    if (!relocate_all(j))
        return false;
    for (size_t i = 0; i < j->parts->len; i++)
        if (!j->parts->at[i].outside)
            add_headers(j, i);
    add_thread_header(j);
    write_file(j);
    return true;
}

static void free_all(Join *j) {
    for (size_t i = 0; i < j->parts->len; i++)
        join_names_free(&j->names[i]);
    mem_free(j->names);
    mem_free(j->thread);
    VEC_FREE(&j->bytes);
    VEC_FREE(&j->data);
    VEC_FREE(&j->calls);
    VEC_FREE(&j->symbols);
    VEC_FREE(&j->functions);
    VEC_FREE(&j->texts);
    VEC_FREE(&j->headers);
    VEC_FREE(&j->dynamic);
    VEC_FREE(&j->first_run);
    VEC_FREE(&j->last_run);
    VEC_FREE(&j->copies);
    VEC_FREE(&j->slot_targets);
    map64_free(&j->slots);
    map64_free(&j->used_slots);
    map64_free(&j->linked_slots);
}

ElfFile *elf_join(ElfParts *parts, ElfError *error) {
    Join j = {.parts = parts, .isa = parts->at[0].elf->isa, .error = error};
    j.names = mem_new(parts->len * sizeof(*j.names));
    j.thread = mem_new(parts->len * sizeof(*j.thread));
    VEC_PUSH(&j.texts, 0);
    VEC_PUSH(&j.symbols, ((Elf64_Sym){0}));
    VEC_PUSH(&j.functions, ((Elf64_Sym){0}));
    for (size_t i = 0; i < parts->len; i++)
        join_names_load(&j.names[i], parts->at[i].elf);
    ElfFile *joined = join(&j) ? elf_open_bytes(j.bytes.at, j.bytes.len, error) : NULL;
    free_all(&j);
    return joined;
}
