/* program.c: the raised program as an ELF file.
 *
 * It is the old file, with the new code behind its image. Data, dynamic linking, thread-local variables and constructors stay as
 * they were, at their old addresses, and so do all pointers: where a function began, that native code may enter, is a jump to its
 * entry. What else was lifted of the old code is overwritten with bytes that trap, so that nothing of it can run.
 *
 * Behind the old image are, each at a page of its own,
 *
 *     the program headers, which had no room at their place, dynamic relocations with those of the new code, and the beginning of
 *     thread-local storage with the variables of raise's own before those of the program;
 *     the code; its data.
 *
 * They are as far behind the image's beginning in the file as in memory, which is where the kernel looks for the headers. */
#include <elf.h>
#include <stdio.h>

#include "codegen/link.h"
#include "raise/file.h"

enum { PAGE = 4096, MORE_HEADERS = 5 };

static u64 round_up(u64 n, u64 align) {
    return (n + align - 1) & -align;
}

typedef struct Part {
    u64 addr, size;
    u8 *bytes;
} Part;

typedef struct Writer {
    Raise *r;
    const u8 *file;
    size_t file_size;
    u64 bias; /* address - offset in the file, of the image and of all that is new */
    Part head, code, data;
    RaiseObject *objects; /* of the module, and the helpers if they are needed */
    LinkNeeds *needs;     /* of each object */
    size_t object_count;
    u64 rela_off, rela_size, tls_off; /* in head */
    Imports imports;
    ImportTables tables;
    u64 symbols_off, names_off, versions_off; /* in head, of `tables` */
    UnwindTables unwind;
    UnwindRows old_unwind;     /* of functions that stay */
    u64 index_off, index_size; /* in head, of `unwind`; a size of 0: none */
    u64 bridges_off;           /* in head, of RAISE_BRIDGES */
    VEC(u64) moved;            /* places of the new parts that hold addresses */
    u64 thread_pointers;       /* relocations of the contents of thread-local variables */
    Map64 helpers;             /* index in helper_addr by the hash of a name */
    VEC(u64) helper_addr;
    VEC(const char *) helper_name;
    const char *missing; /* a symbol that nobody has */
    VEC(Elf64_Phdr) headers;
} Writer;

/* ------------------------------------------------------------------------------------------------------- the old file */

static Elf64_Ehdr header_of(const u8 *file) {
    Elf64_Ehdr h;
    memcpy(&h, file, sizeof(h));
    return h;
}

static Elf64_Phdr segment_of(const u8 *file, unsigned i) {
    Elf64_Phdr p;
    memcpy(&p, file + header_of(file).e_phoff + i * sizeof(p), sizeof(p));
    return p;
}

static Elf64_Phdr tls_of(const Raise *r) {
    return elf_program_header(r->elf, PT_TLS);
}

static u64 tls_align(const Elf64_Phdr *tls) {
    return tls->p_type == PT_TLS && tls->p_align > 64 ? tls->p_align : 64;
}

/* How much raise's own variables move the program's in the block, which keep their distance to the thread pointer: the block ends
 * there, rounded up to its alignment. */
static u64 tls_shift(const Raise *r, u64 *total) {
    if (r->is_library) {
        *total = 0;
        return 0;
    }
    Elf64_Phdr tls = tls_of(r);
    u64 old = tls.p_type == PT_TLS ? round_up(tls.p_memsz, tls.p_align ? tls.p_align : 1) : 0;
    *total = round_up(old + r->host->raise->thread_bytes, tls_align(&tls));
    return *total - old;
}

i64 raise_thread_offset(const Raise *r) {
    u64 total;
    tls_shift(r, &total);
    return r->is_library ? r->host->raise->library_thread_offset : -(i64)total;
}

/* ------------------------------------------------------------------------------------------------------------ linking */

static u64 hash_of(const char *name) {
    u64 h = 14695981039346656037u;
    for (; *name; name++)
        h = (h ^ (u8)*name) * 1099511628211u;
    return h;
}

static void define_helper(void *user, const char *name, u64 address, u64 size) {
    Writer *w = user;
    (void)size;
    map64_set(&w->helpers, hash_of(name), (u32)w->helper_addr.len);
    VEC_PUSH(&w->helper_addr, address);
    VEC_PUSH(&w->helper_name, name);
}

static bool resolve(void *user, const char *name, u64 *address) {
    Writer *w = user;
    u32 index;
    if (!strncmp(name, RAISE_IMPORT, strlen(RAISE_IMPORT))) {
        *address = imports_address(&w->imports, arena_printf(&w->r->arena, "%s", name + strlen(RAISE_IMPORT)));
        return true;
    }
    if (sscanf(name, RAISE_AT, address) == 1)
        return true;
    if (!strcmp(name, RAISE_IMAGE)) {
        *address = w->r->extent.start;
        return true;
    }
    if (!strcmp(name, RAISE_BRIDGES)) {
        *address = w->head.addr + w->bridges_off;
        return true;
    }
    if (map64_get(&w->helpers, hash_of(name), &index) && !strcmp(w->helper_name.at[index], name)) {
        *address = w->helper_addr.at[index];
        return true;
    }
    w->missing = arena_printf(&w->r->arena, "%s", name);
    return false;
}

static void note_moved(void *user, u64 place) {
    Writer *w = user;
    VEC_PUSH(&w->moved, place);
}

static LinkPlace place_at(Writer *w, u64 code_off, u64 data_off, const LinkNeeds *needs) {
    return (LinkPlace){.code_write = w->code.bytes + code_off,
                       .data_write = w->data.bytes + data_off,
                       .code_run = w->code.addr + code_off,
                       .data_run = w->data.addr + data_off,
                       .work = arena_alloc(&w->r->arena, needs->work_bytes + 8),
                       .resolve = resolve,
                       .user = w,
                       .moves = note_moved};
}

static void find_unwind_tables(Writer *w, const LinkPlace *places) {
    w->unwind.len = 0;
    for (size_t i = 0; i < w->object_count; i++) {
        UnwindTable t;
        if (!link_section(w->objects[i].bytes, w->objects[i].size, &places[i], ".eh_frame", &t.addr, &t.size))
            continue;
        t.bytes = w->data.bytes + (t.addr - w->data.addr);
        VEC_PUSH(&w->unwind, t);
    }
    w->index_size = unwind_index_bytes(&w->unwind, &w->old_unwind);
}

/* Objects call functions of each other: names first, then all of them. */
static bool link_all(Writer *w) {
    LinkPlace *places = arena_alloc(&w->r->arena, w->object_count * sizeof(*places));
    u64 code_off = 0, data_off = 0;
    w->moved.len = 0;
    for (size_t i = 0; i < w->object_count; i++) {
        places[i] = place_at(w, code_off, data_off, &w->needs[i]);
        code_off += round_up(w->needs[i].code_bytes, LINK_MAX_ALIGN);
        data_off += round_up(w->needs[i].data_bytes, LINK_MAX_ALIGN);
        link_symbols(w->objects[i].bytes, w->objects[i].size, &places[i], define_helper, w);
    }
    for (size_t i = 0; i < w->object_count; i++)
        if (link_place(w->objects[i].bytes, w->objects[i].size, &places[i]) < 0)
            return raise_fail(w->r, "its code cannot be linked: %s is missing", w->missing ? w->missing : "something");
    if (w->r->unwinds)
        find_unwind_tables(w, places);
    w->tables = imports_tables(&w->imports);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- layout */

static void lay_out(Writer *w) {
    Elf64_Phdr tls = tls_of(w->r);
    u64 total, shift = tls_shift(w->r, &total);
    u64 end = w->r->extent.end > w->bias + w->file_size ? w->r->extent.end : w->bias + w->file_size;
    u64 headers = (header_of(w->file).e_phnum + (u64)MORE_HEADERS) * sizeof(Elf64_Phdr);
    w->head.addr = round_up(end, PAGE);
    w->rela_off = round_up(headers, 64);
    w->rela_size = elf_dynamic_number(w->r->elf, DT_RELASZ) + w->moved.len * sizeof(Elf64_Rela);
    w->tls_off = round_up(w->rela_off + w->rela_size, tls_align(&tls));
    w->index_off = round_up(w->tls_off + shift + (tls.p_type == PT_TLS ? tls.p_filesz : 0), 64);
    w->symbols_off = round_up(w->index_off + w->index_size, 64);
    w->versions_off = w->symbols_off + w->tables.symbols_size;
    w->names_off = w->versions_off + w->tables.versions_size;
    w->bridges_off = round_up(w->names_off + w->tables.names_size, 64);
    w->head.size = w->bridges_off + raise_bridge_table(w->r).rows * sizeof(u32);
    w->code.addr = round_up(w->head.addr + w->head.size, PAGE);
    w->code.size = w->data.size = 0;
    for (size_t i = 0; i < w->object_count; i++) {
        w->code.size += round_up(w->needs[i].code_bytes, LINK_MAX_ALIGN);
        w->data.size += round_up(w->needs[i].data_bytes, LINK_MAX_ALIGN);
    }
    w->data.addr = round_up(w->code.addr + w->code.size, PAGE);
}

/* How many addresses there are is known after linking, and where the parts are depends on it: so it is done twice. */
static bool place_parts(Writer *w) {
    for (size_t i = 0; i < w->object_count; i++)
        if (link_measure(w->objects[i].bytes, w->objects[i].size, &w->needs[i]) < 0)
            return raise_fail(w->r, "its code cannot be linked");
    for (int i = 0; i < 2; i++) {
        lay_out(w);
        w->head.bytes = arena_alloc(&w->r->arena, w->head.size);
        w->code.bytes = arena_alloc(&w->r->arena, w->code.size);
        w->data.bytes = arena_alloc(&w->r->arena, w->data.size + 1);
        if (!link_all(w))
            return false;
    }
    return true;
}

/* Functions that stay are found by exceptions as before. */
static void find_old_unwind(Writer *w) {
    Elf64_Phdr p = elf_program_header(w->r->elf, PT_GNU_EH_FRAME);
    if (p.p_type != PT_GNU_EH_FRAME || p.p_offset > w->file_size || p.p_filesz > w->file_size - p.p_offset)
        return;
    for (size_t i = 0; i < w->r->stays.len; i++)
        unwind_old_rows(w->file + p.p_offset, p.p_filesz, p.p_vaddr, w->r->stays.at[i], &w->old_unwind);
}

/* With the helpers only if something is missing without them. */
static bool place_objects(Writer *w, const RaiseObject *objects, size_t count, RaiseObject helpers) {
    w->objects = arena_alloc(&w->r->arena, (count + 1) * sizeof(*w->objects));
    w->needs = arena_alloc(&w->r->arena, (count + 1) * sizeof(*w->needs));
    memcpy(w->objects, objects, count * sizeof(*objects));
    w->objects[count] = helpers;
    w->object_count = count;
    if (place_parts(w))
        return true;
    w->object_count++;
    return w->missing && helpers.size && place_parts(w);
}

/* -------------------------------------------------------------------------------------------------------- the new file */

/* Where that address of the old image is in the file; NULL: not there, or not all of it. */
static u8 *old_place(const Writer *w, u8 *file, u64 addr, u64 size) {
    for (unsigned i = 0; i < header_of(w->file).e_phnum; i++) {
        Elf64_Phdr p = segment_of(w->file, i);
        if (p.p_type == PT_LOAD && addr >= p.p_vaddr && addr - p.p_vaddr < p.p_filesz &&
            size <= p.p_filesz - (addr - p.p_vaddr))
            return file + p.p_offset + (addr - p.p_vaddr);
    }
    return NULL;
}

static void add_header(Writer *w, const Part *p, u32 flags) {
    if (p->size)
        VEC_PUSH(&w->headers, ((Elf64_Phdr){.p_type = PT_LOAD,
                                            .p_flags = flags,
                                            .p_offset = p->addr - w->bias,
                                            .p_vaddr = p->addr,
                                            .p_paddr = p->addr,
                                            .p_filesz = p->size,
                                            .p_memsz = p->size,
                                            .p_align = PAGE}));
}

static Elf64_Phdr new_tls(const Writer *w) {
    Elf64_Phdr old = tls_of(w->r);
    u64 total, shift = tls_shift(w->r, &total), addr = w->head.addr + w->tls_off;
    bool had = old.p_type == PT_TLS;
    return (Elf64_Phdr){.p_type = PT_TLS,
                        .p_flags = PF_R,
                        .p_offset = addr - w->bias,
                        .p_vaddr = addr,
                        .p_paddr = addr,
                        .p_filesz = shift + (had ? old.p_filesz : 0),
                        .p_memsz = shift + (had ? old.p_memsz : 0),
                        .p_align = tls_align(&old)};
}

static Elf64_Phdr new_index(const Writer *w) {
    u64 addr = w->head.addr + w->index_off;
    return (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
                        .p_flags = PF_R,
                        .p_offset = addr - w->bias,
                        .p_vaddr = addr,
                        .p_paddr = addr,
                        .p_filesz = w->index_size,
                        .p_memsz = w->index_size,
                        .p_align = 4};
}

static void make_headers(Writer *w) {
    for (unsigned i = 0; i < header_of(w->file).e_phnum; i++) {
        Elf64_Phdr p = segment_of(w->file, i);
        bool replaced = (p.p_type == PT_TLS && !w->r->is_library) || (p.p_type == PT_GNU_EH_FRAME && w->index_size);
        if (!replaced)
            VEC_PUSH(&w->headers, p);
    }
    add_header(w, &w->head, w->thread_pointers ? PF_R | PF_W : PF_R);
    add_header(w, &w->code, PF_R | PF_X);
    add_header(w, &w->data, PF_R | PF_W);
    if (!w->r->is_library)
        VEC_PUSH(&w->headers, new_tls(w));
    if (w->index_size)
        VEC_PUSH(&w->headers, new_index(w));
    u64 size = w->headers.len * sizeof(Elf64_Phdr);
    for (size_t i = 0; i < w->headers.len; i++) {
        Elf64_Phdr *p = &w->headers.at[i];
        if (p->p_type != PT_PHDR)
            continue;
        p->p_offset = w->head.addr - w->bias;
        p->p_vaddr = p->p_paddr = w->head.addr;
        p->p_filesz = p->p_memsz = size;
    }
    memcpy(w->head.bytes, w->headers.at, size);
}

static void write_header(Writer *w, u8 *out) {
    Elf64_Ehdr h = header_of(w->file);
    h.e_phoff = w->head.addr - w->bias;
    h.e_phnum = (u16)w->headers.len;
    if (w->r->is_static)
        resolve(w, RAISE_START, &h.e_entry);
    memcpy(out, &h, sizeof(h));
}

/* ------------------------------------------------------------------------------------------------- dynamic relocations */

/* The program's thread-local variables have moved within their block. */
static void shift_thread_variables(const Writer *w, u8 *out, i64 table, i64 table_size) {
    u64 size = elf_dynamic_number(w->r->elf, table_size), total, shift = tls_shift(w->r, &total);
    u8 *at = size ? old_place(w, out, elf_dynamic_number(w->r->elf, table), size) : NULL;
    for (u64 off = 0; at && off + sizeof(Elf64_Rela) <= size; off += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        memcpy(&rela, at + off, sizeof(rela));
        if (!w->r->host->raise->is_thread_offset(ELF64_R_TYPE(rela.r_info)) ||
            elf_imported_at(w->r->elf, rela.r_offset))
            continue;
        rela.r_addend += (i64)shift;
        memcpy(at + off, &rela, sizeof(rela));
    }
}

static u64 word_at(const Writer *w, u64 place) {
    u64 word;
    memcpy(&word, w->data.bytes + (place - w->data.addr), sizeof(word));
    return word;
}

/* Pointers among the first contents of thread-local variables are relocated where these are now. */
static void move_thread_pointers(Writer *w, u8 *table, u64 size) {
    Elf64_Phdr old = tls_of(w->r);
    u64 total, to = w->head.addr + w->tls_off + tls_shift(w->r, &total);
    for (u64 off = 0; !w->r->is_library && off + sizeof(Elf64_Rela) <= size; off += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        memcpy(&rela, table + off, sizeof(rela));
        if (old.p_type != PT_TLS || rela.r_offset - old.p_vaddr >= old.p_filesz)
            continue;
        rela.r_offset += to - old.p_vaddr;
        memcpy(table + off, &rela, sizeof(rela));
        w->thread_pointers++;
    }
}

static bool write_relocations(Writer *w, u8 *out) {
    u64 old = elf_dynamic_number(w->r->elf, DT_RELASZ);
    u8 *from = old ? old_place(w, out, elf_dynamic_number(w->r->elf, DT_RELA), old) : NULL,
       *to = w->head.bytes + w->rela_off;
    if (from) {
        memcpy(to, from, old);
        move_thread_pointers(w, to, old);
    }
    for (size_t i = 0; i < w->moved.len; i++) {
        if (w->moved.at[i] < w->data.addr)
            return raise_fail(w->r, "its code has addresses among its instructions");
        u64 word = word_at(w, w->moved.at[i]);
        u32 number, type = w->r->isa->elf_relative;
        i64 addend = (i64)word;
        if (imports_number(&w->imports, word, &number, &addend))
            type = w->r->isa->elf_symbolic;
        else
            number = 0;
        Elf64_Rela rela = {.r_offset = w->moved.at[i], .r_info = ELF64_R_INFO((u64)number, type), .r_addend = addend};
        memcpy(to + old + i * sizeof(rela), &rela, sizeof(rela));
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- the dynamic segment */

typedef struct Dynamic {
    Elf64_Dyn *at;
    size_t count; /* with the end, and what is unused behind it */
} Dynamic;

static Elf64_Dyn *find_entry(const Dynamic *d, i64 tag) {
    for (size_t i = 0; i < d->count && d->at[i].d_tag != DT_NULL; i++)
        if (d->at[i].d_tag == tag)
            return &d->at[i];
    return NULL;
}

/* An entry that can become another: an unused one, or what only debuggers look at. */
static Elf64_Dyn *free_entry(const Dynamic *d) {
    for (size_t i = 0; i + 1 < d->count; i++)
        if (d->at[i].d_tag == DT_NULL)
            return d->at[i + 1].d_tag == DT_NULL ? &d->at[i] : find_entry(d, DT_DEBUG);
    return find_entry(d, DT_DEBUG);
}

/* Functions of other files are looked up when the program starts: what looks them up later counts on the program's stack. */
static bool bind_at_start(Writer *w, const Dynamic *d) {
    Elf64_Dyn *flags = find_entry(d, DT_FLAGS);
    if (flags) {
        flags->d_un.d_val |= DF_BIND_NOW;
        return true;
    }
    flags = free_entry(d);
    if (!flags)
        return raise_fail(w->r, "its dynamic segment has no room");
    *flags = (Elf64_Dyn){.d_tag = DT_FLAGS, .d_un.d_val = DF_BIND_NOW};
    return true;
}

static void patch_tables(const Writer *w, const Dynamic *d) {
    const struct {
        i64 tag;
        u64 value;
    } rows[] = {{DT_SYMTAB, w->head.addr + w->symbols_off},
                {DT_STRTAB, w->head.addr + w->names_off},
                {DT_STRSZ, w->tables.names_size},
                {DT_VERSYM, w->head.addr + w->versions_off}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        Elf64_Dyn *entry = find_entry(d, rows[i].tag);
        if (entry)
            entry->d_un.d_val = rows[i].value;
    }
}

/* A statically linked program that is not position-independent has none, and needs none. */
static bool patch_dynamic(Writer *w, u8 *out) {
    if (w->r->is_static && !w->r->extent.position_independent)
        return true;
    Elf64_Phdr p = elf_program_header(w->r->elf, PT_DYNAMIC);
    u8 *place = p.p_type == PT_DYNAMIC ? old_place(w, out, p.p_vaddr, p.p_filesz) : NULL;
    if (!place)
        return raise_fail(w->r, "it has no dynamic segment");
    Dynamic d = {arena_alloc(&w->r->arena, p.p_filesz), p.p_filesz / sizeof(Elf64_Dyn)};
    memcpy(d.at, place, d.count * sizeof(Elf64_Dyn));
    if (!bind_at_start(w, &d))
        return false;
    Elf64_Dyn *table = find_entry(&d, DT_RELA), *size = find_entry(&d, DT_RELASZ);
    if (w->moved.len && (!table || !size))
        return raise_fail(w->r, "it has no dynamic relocations, and its code needs some");
    if (w->moved.len || w->thread_pointers) {
        table->d_un.d_ptr = w->head.addr + w->rela_off;
        size->d_un.d_val = w->rela_size;
    }
    if (w->tables.symbols_size)
        patch_tables(w, &d);
    memcpy(place, d.at, d.count * sizeof(Elf64_Dyn));
    return true;
}

/* -------------------------------------------------------------------------------------------------------- the old code */

static void wipe_code(const Writer *w, u8 *out) {
    for (size_t i = 0; i < w->r->code.len; i++) {
        LatheRange range = w->r->code.at[i];
        u8 *at = old_place(w, out, range.start, range.end - range.start);
        if (at)
            memset(at, w->r->host->raise->fill, range.end - range.start);
    }
}

/* fallback.c: the bytes of functions that stay. */
static void restore_code(const Writer *w, u8 *out) {
    for (size_t i = 0; i < w->r->stays.len; i++) {
        LatheRange range = w->r->stays.at[i];
        u8 *at = old_place(w, out, range.start, range.end - range.start);
        if (at)
            memcpy(at, w->file + (at - out), range.end - range.start);
    }
}

/* How many bytes are there before another entry, at most `most`? */
static u64 room_at(Writer *w, u64 pc, u64 most) {
    u64 room = 1;
    for (; room < most; room++) {
        const RaiseFunction *f = raise_function_at(w->r, pc + room);
        if (f && (f->native || f->kept))
            break;
    }
    return room;
}

static bool is_wiped(const Writer *w, u8 *out, u64 addr, u64 size) {
    u8 *at = old_place(w, out, addr, size);
    for (u64 i = 0; at && i < size; i++)
        if (at[i] != w->r->host->raise->fill)
            return false;
    return at;
}

/* A place for a jump within reach of a short one at `pc`, where old code was; 0: none. */
static u64 find_step(Writer *w, u8 *out, u64 pc) {
    const HostRaise *host = w->r->host->raise;
    for (u64 distance = host->short_bytes; distance < host->short_reach; distance++) {
        u64 places[] = {pc + distance, pc - distance};
        for (int i = 0; i < 2; i++)
            if (is_wiped(w, out, places[i], host->jump_bytes) &&
                room_at(w, places[i] - 1, host->jump_bytes + 1) > host->jump_bytes)
                return places[i];
    }
    return 0;
}

static bool write_short(Writer *w, u8 *out, u64 pc, u64 entry) {
    const HostRaise *host = w->r->host->raise;
    u64 step = room_at(w, pc, host->short_bytes) == host->short_bytes ? find_step(w, out, pc) : 0;
    if (!step)
        return false;
    host->short_jump(old_place(w, out, pc, host->short_bytes), (i32)(step - pc));
    host->jump(old_place(w, out, step, host->jump_bytes), (i32)(entry - step));
    return true;
}

/* A function that only returns, and has no room for a jump, stays as it was. */
static bool stays(Writer *w, const RaiseFunction *f) {
    const HostRaise *host = w->r->host->raise;
    const u8 *old = old_place(w, (u8 *)w->file, f->pc, 1);
    return old && *old == host->only_return && room_at(w, f->pc, host->short_bytes) < host->short_bytes;
}

/* First those with room for a jump, then those that need a step beside another function's old code. */
static void write_entry(Writer *w, u8 *out, const RaiseFunction *f, bool with_room) {
    const HostRaise *host = w->r->host->raise;
    char name[64];
    u64 entry;
    snprintf(name, sizeof(name), RAISE_ENTRY, f->pc);
    bool has_room =
        room_at(w, f->pc, host->jump_bytes) == host->jump_bytes && old_place(w, out, f->pc, host->jump_bytes);
    if (has_room != with_room || stays(w, f) || !resolve(w, name, &entry))
        return;
    if (has_room) {
        host->jump(old_place(w, out, f->pc, host->jump_bytes), (i32)(entry - f->pc));
    } else if (!write_short(w, out, f->pc, entry)) {
        w->r->counts.no_room++;
        raise_note(w->r, f->pc, "no room for a jump: native code and pointers cannot call the function");
    }
}

static void write_entries(Writer *w, u8 *out) {
    for (size_t i = 0; i < w->r->functions.len; i++) {
        const RaiseFunction *f = &w->r->functions.at[i];
        u8 *at = f->native && f->raised && stays(w, f) ? old_place(w, out, f->pc, 1) : NULL;
        if (at)
            *at = w->r->host->raise->only_return;
    }
    for (int with_room = 1; with_room >= 0; with_room--)
        for (size_t i = 0; i < w->r->functions.len; i++)
            if (w->r->functions.at[i].native && w->r->functions.at[i].raised)
                write_entry(w, out, &w->r->functions.at[i], with_room);
}

static void write_bridges(Writer *w) {
    RaiseTable table = raise_bridge_table(w->r);
    u64 start = w->head.addr + w->bridges_off;
    for (size_t i = 0; i < w->r->functions.len; i++) {
        const RaiseFunction *f = &w->r->functions.at[i];
        char name[64];
        u64 bridge;
        snprintf(name, sizeof(name), RAISE_BRIDGE, f->pc);
        if (!f->native || !f->raised || f->pc % RAISE_ROW || !resolve(w, name, &bridge))
            continue;
        u32 row = (u32)(bridge - start);
        memcpy(w->head.bytes + w->bridges_off + (f->pc - table.start) / RAISE_ROW * sizeof(row), &row, sizeof(row));
    }
}

/* -------------------------------------------------------------------------------------------------------------- public */

static void write_tls(const Writer *w) {
    Elf64_Phdr tls = tls_of(w->r);
    u64 total, shift = tls_shift(w->r, &total);
    const u8 *from =
        tls.p_type == PT_TLS && tls.p_filesz ? old_place(w, (u8 *)w->file, tls.p_vaddr, tls.p_filesz) : NULL;
    if (from)
        memcpy(w->head.bytes + w->tls_off + shift, from, tls.p_filesz);
}

static bool write_imports(const Writer *w) {
    u8 *head = w->head.bytes;
    if (w->index_size)
        unwind_index_write(&w->unwind, &w->old_unwind, head + w->index_off, w->head.addr + w->index_off);
    u8 *versions = w->tables.versions_size ? head + w->versions_off : NULL;
    return !w->tables.symbols_size ||
           imports_write(&w->imports, head + w->symbols_off, head + w->names_off, versions) ||
           raise_fail(w->r, "its dynamic symbols cannot be read");
}

static bool write_all(Writer *w, u8 *out) {
    memcpy(out, w->file, w->file_size);
    shift_thread_variables(w, out, DT_RELA, DT_RELASZ);
    shift_thread_variables(w, out, DT_JMPREL, DT_PLTRELSZ);
    if (!write_relocations(w, out) || !patch_dynamic(w, out) || !write_imports(w))
        return false;
    wipe_code(w, out);
    restore_code(w, out);
    write_entries(w, out);
    write_bridges(w);
    write_tls(w);
    make_headers(w);
    write_header(w, out);
    const Part *parts[] = {&w->head, &w->code, &w->data};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        memcpy(out + (parts[i]->addr - w->bias), parts[i]->bytes, parts[i]->size);
    return true;
}

bool raise_program(Raise *r, const RaiseObject *objects, size_t count, RaiseObject helpers, u8 **data,
                   size_t *data_size) {
    Writer w = {.r = r, .imports.elf = r->elf};
    w.file = elf_bytes(r->elf, &w.file_size);
    Elf64_Phdr first = elf_program_header(r->elf, PT_LOAD);
    w.bias = first.p_vaddr - first.p_offset;
    if (r->unwinds)
        find_old_unwind(&w);
    bool ok = place_objects(&w, objects, count, helpers);
    *data_size = w.data.addr + w.data.size - w.bias;
    *data = ok ? mem_new(*data_size) : NULL;
    ok = ok && write_all(&w, *data);
    if (!ok) {
        mem_free(*data);
        *data = NULL;
    }
    imports_free(&w.imports);
    VEC_FREE(&w.unwind);
    VEC_FREE(&w.old_unwind);
    VEC_FREE(&w.moved);
    VEC_FREE(&w.helper_addr);
    VEC_FREE(&w.helper_name);
    VEC_FREE(&w.headers);
    map64_free(&w.helpers);
    return ok;
}
