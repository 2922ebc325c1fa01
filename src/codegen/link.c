/* link.c: see link.h.
 *
 * Every offset and size read from the object is compared with what holds it before use; nothing is read in place, so
 * the object needs no alignment. Per global symbol there is a slot behind the code: its address (what the compiler
 * calls a GOT entry), and a jump through that address for calls whose target is out of the reach of 32 bits. */
#include "codegen/link.h"

#include <elf.h>

#include "host/link.h"

/* Far below 2 GiB, so that sums of sizes do not overflow and an object's parts can be placed in reach of each other. */
#define MAX_PART_BYTES ((u64)1 << 29)

#define SLOT_BYTES 16
#define SLOT_JUMP 8 /* where the jump is in the slot, behind the address */

typedef struct Object {
    const u8 *at;
    u64 size;
    u64 sections_off, section_count, section_names;
    u64 symbols_off, symbol_count, first_global;
    u64 names_off, names_size; /* the last byte of the names is 0 */
} Object;

typedef enum Part { PART_NONE, PART_CODE, PART_DATA } Part;

/* A section where it was placed. */
typedef struct Site {
    u8 *write;
    u64 run, size;
} Site;

typedef struct Linker {
    Object o;
    const LinkPlace *place;
    LinkNeeds needs;
    u64 *offsets;   /* per section: in its part */
    u64 *addresses; /* per symbol, 0: not resolved yet */
} Linker;

/* ---------------------------------------------------------------------------------------------- reading the object */

static bool in_object(const Object *o, u64 off, u64 bytes) {
    return off <= o->size && bytes <= o->size - off;
}

/* `i` < section_count. */
static Elf64_Shdr section(const Object *o, u64 i) {
    Elf64_Shdr s;
    memcpy(&s, o->at + o->sections_off + i * sizeof(s), sizeof(s));
    return s;
}

/* `i` < symbol_count. */
static Elf64_Sym symbol(const Object *o, u64 i) {
    Elf64_Sym s;
    memcpy(&s, o->at + o->symbols_off + i * sizeof(s), sizeof(s));
    return s;
}

static const char *symbol_name(const Object *o, const Elf64_Sym *s) {
    return s->st_name < o->names_size ? (const char *)o->at + o->names_off + s->st_name : NULL;
}

static bool read_header(Object *o) {
    static const u8 ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    Elf64_Ehdr h;
    if (o->size < sizeof(h))
        return false;
    memcpy(&h, o->at, sizeof(h));
    if (memcmp(h.e_ident, ident, sizeof(ident)) || h.e_type != ET_REL || h.e_machine != host_link.elf_machine)
        return false;
    o->sections_off = h.e_shoff;
    o->section_names = h.e_shstrndx;
    o->section_count = h.e_shnum;
    return h.e_shentsize == sizeof(Elf64_Shdr) && in_object(o, h.e_shoff, (u64)h.e_shnum * sizeof(Elf64_Shdr));
}

static bool read_symtab(Object *o, const Elf64_Shdr *table) {
    if (o->symbol_count || table->sh_entsize != sizeof(Elf64_Sym) || !in_object(o, table->sh_offset, table->sh_size) ||
        table->sh_link >= o->section_count)
        return false;
    Elf64_Shdr names = section(o, table->sh_link);
    if (names.sh_type != SHT_STRTAB || !names.sh_size || !in_object(o, names.sh_offset, names.sh_size))
        return false;
    o->symbols_off = table->sh_offset;
    o->symbol_count = table->sh_size / sizeof(Elf64_Sym);
    o->first_global = table->sh_info;
    o->names_off = names.sh_offset;
    o->names_size = names.sh_size;
    return o->first_global <= o->symbol_count && !o->at[o->names_off + o->names_size - 1];
}

static bool open_object(Object *o, const void *data, size_t size) {
    *o = (Object){.at = data, .size = size};
    if (!read_header(o))
        return false;
    for (u64 i = 0; i < o->section_count; i++) {
        Elf64_Shdr s = section(o, i);
        if (s.sh_type == SHT_SYMTAB && !read_symtab(o, &s))
            return false;
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------------- layout */

/* Notes are left out: nobody reads them from memory. Sections that would need work at load time (thread-local storage,
 * constructors) are refused, as is what is writable and executable. */
static bool part_of(const Object *o, const Elf64_Shdr *s, Part *part) {
    *part = PART_NONE;
    if (!(s->sh_flags & SHF_ALLOC) || s->sh_type == SHT_NOTE)
        return true;
    u64 both = SHF_WRITE | SHF_EXECINSTR;
    bool unwind = s->sh_type == host_link.unwind_section;
    bool bits = (s->sh_type == SHT_PROGBITS || unwind) && in_object(o, s->sh_offset, s->sh_size);
    if ((!bits && s->sh_type != SHT_NOBITS) || s->sh_flags & (SHF_TLS | SHF_COMPRESSED) ||
        (s->sh_flags & both) == both || s->sh_addralign > LINK_MAX_ALIGN || s->sh_addralign & (s->sh_addralign - 1))
        return false;
    *part = s->sh_flags & SHF_WRITE || unwind ? PART_DATA : PART_CODE;
    return true;
}

/* Unwind tables end with a zero, which linkers have to add. */
static u64 bytes_of(const Elf64_Shdr *s) {
    return s->sh_type == host_link.unwind_section ? s->sh_size + LINK_UNWIND_END_BYTES : s->sh_size;
}

static bool append(u64 *used, u64 bytes, u64 align, u64 *offset) {
    *offset = (*used + align - 1) & ~(align - 1);
    if (bytes > MAX_PART_BYTES || *offset + bytes > MAX_PART_BYTES)
        return false;
    *used = *offset + bytes;
    return true;
}

/* Where each section goes; `offsets` may be NULL. */
static bool lay_out(const Object *o, LinkNeeds *needs, u64 *offsets) {
    *needs = (LinkNeeds){.align = SLOT_BYTES, .work_bytes = (o->section_count + o->symbol_count) * sizeof(u64)};
    for (u64 i = 0; i < o->section_count; i++) {
        Elf64_Shdr s = section(o, i);
        u64 align = s.sh_addralign ? s.sh_addralign : 1, offset = 0;
        Part part;
        if (!part_of(o, &s, &part))
            return false;
        if (part != PART_NONE) {
            u64 *used = part == PART_CODE ? &needs->code_bytes : &needs->data_bytes;
            if (!append(used, bytes_of(&s), align, &offset))
                return false;
            needs->align = align > needs->align ? align : needs->align;
        }
        if (offsets)
            offsets[i] = offset;
    }
    u64 slots = o->symbol_count - o->first_global;
    return append(&needs->code_bytes, slots * SLOT_BYTES, SLOT_BYTES, &needs->slots_off);
}

/* False if the section is not part of the image. */
static bool locate(const Linker *l, u64 index, Site *site) {
    if (index >= l->o.section_count)
        return false;
    Elf64_Shdr s = section(&l->o, index);
    Part part;
    if (!part_of(&l->o, &s, &part) || part == PART_NONE)
        return false;
    u64 offset = l->offsets[index];
    if (part == PART_CODE)
        *site = (Site){l->place->code_write + offset, l->place->code_run + offset, s.sh_size};
    else
        *site = (Site){l->place->data_write + offset, l->place->data_run + offset, s.sh_size};
    return true;
}

static bool open_linker(Linker *l, const void *object, size_t size, const LinkPlace *place) {
    *l = (Linker){.place = place};
    if (!open_object(&l->o, object, size))
        return false;
    l->offsets = place->work;
    l->addresses = l->offsets + l->o.section_count;
    return lay_out(&l->o, &l->needs, l->offsets);
}

static void copy_sections(const Linker *l) {
    memset(l->place->code_write, host_link.fill, l->needs.code_bytes);
    memset(l->place->data_write, 0, l->needs.data_bytes);
    for (u64 i = 0; i < l->o.section_count; i++) {
        Elf64_Shdr s = section(&l->o, i);
        Site site;
        if (!locate(l, i, &site))
            continue;
        if (s.sh_type == SHT_NOBITS)
            memset(site.write, 0, s.sh_size);
        else
            memcpy(site.write, l->o.at + s.sh_offset, s.sh_size);
    }
}

/* -------------------------------------------------------------------------------------------------------- symbols */

static bool resolve(const Linker *l, const Elf64_Sym *s, u64 *address) {
    const char *name = symbol_name(&l->o, s);
    if (name && *name && l->place->resolve(l->place->user, name, address))
        return true;
    *address = 0;
    return ELF64_ST_BIND(s->st_info) == STB_WEAK;
}

static bool defined_at(const Linker *l, const Elf64_Sym *s, u64 *address) {
    Site site;
    if (s->st_shndx >= SHN_LORESERVE || !locate(l, s->st_shndx, &site) || s->st_value > site.size)
        return false;
    *address = site.run + s->st_value;
    return true;
}

static bool address_of(Linker *l, u64 index, u64 *address) {
    *address = 0;
    if (index == STN_UNDEF)
        return true;
    if (index >= l->o.symbol_count)
        return false;
    *address = l->addresses[index];
    if (*address)
        return true;
    Elf64_Sym s = symbol(&l->o, index);
    bool known = true;
    if (s.st_shndx == SHN_ABS)
        *address = s.st_value;
    else
        known = s.st_shndx == SHN_UNDEF ? resolve(l, &s, address) : defined_at(l, &s, address);
    l->addresses[index] = *address;
    return known;
}

/* The run-time address of the symbol's slot, which is filled. Only global symbols have one. */
static bool slot_of(const Linker *l, u64 index, u64 address, u64 *slot) {
    if (index < l->o.first_global || index >= l->o.symbol_count)
        return false;
    u64 offset = l->needs.slots_off + (index - l->o.first_global) * SLOT_BYTES;
    u8 *at = l->place->code_write + offset;
    memcpy(at, &address, sizeof(address));
    memcpy(at + SLOT_JUMP, host_link.slot_jump, sizeof(host_link.slot_jump));
    *slot = l->place->code_run + offset;
    if (l->place->moves)
        l->place->moves(l->place->user, *slot);
    return true;
}

/* ----------------------------------------------------------------------------------------------------- relocations */

static bool fits_i32(u64 v) {
    return v == (u64)(i64)(i32)v;
}

static HostRelocation kind_of(const Elf64_Rela *r) {
    return host_link.relocation(ELF64_R_TYPE(r->r_info));
}

static u64 width_of(HostRelocation kind) {
    bool wide =
        kind == RELOCATION_ABSOLUTE_64 || kind == RELOCATION_RELATIVE_64 || kind == RELOCATION_FIELD_RELATIVE_PAIR;
    if (kind == RELOCATION_ABSOLUTE_8)
        return 1;
    return kind == RELOCATION_NONE ? 0 : wide ? 8 : 4;
}

static u32 word_at(const u8 *at) {
    u32 word;
    memcpy(&word, at, sizeof(word));
    return word;
}

/* What the relocation writes: s is the symbol, p the place at run time, `at` where it is written. */
static bool value_of(const Linker *l, const Elf64_Rela *r, u64 s, u64 p, const u8 *at, u64 *value) {
    u64 a = (u64)r->r_addend, index = ELF64_R_SYM(r->r_info), g;
    switch (kind_of(r)) {
    case RELOCATION_ABSOLUTE_64:
        *value = s + a;
        return true;
    case RELOCATION_RELATIVE_64:
        *value = s + a - p;
        return true;
    case RELOCATION_ABSOLUTE_32:
        *value = s + a;
        return *value <= UINT32_MAX;
    case RELOCATION_ABSOLUTE_SIGNED_32:
        *value = s + a;
        return fits_i32(*value);
    case RELOCATION_ABSOLUTE_8:
        *value = s + a;
        return *value <= UINT8_MAX;
    case RELOCATION_RELATIVE_32:
        *value = s + a - p;
        return fits_i32(*value);
    case RELOCATION_CALL_32:
        *value = s + a - p;
        if (fits_i32(*value))
            return true;
        if (!slot_of(l, index, s, &g))
            return false;
        *value = g + SLOT_JUMP + a - p;
        return fits_i32(*value);
    case RELOCATION_SLOT_32:
        if (!slot_of(l, index, s, &g))
            return false;
        *value = g + a - p;
        return fits_i32(*value);
    case RELOCATION_ADD_32:
        *value = word_at(at) + s + a;
        return true;
    case RELOCATION_SUBTRACT_32:
        *value = word_at(at) - (s + a);
        return true;
    case RELOCATION_FIELD_ABSOLUTE:
        *value = s + a;
        return true;
    case RELOCATION_FIELD_RELATIVE:
    case RELOCATION_FIELD_RELATIVE_PAIR:
    case RELOCATION_FIELD_CALL:
        *value = s + a - p;
        return true;
    case RELOCATION_FIELD_PAGE:
        *value = page_of(s + a) - page_of(p);
        return true;
    case RELOCATION_FIELD_SLOT:
    case RELOCATION_FIELD_SLOT_PAGE:
    case RELOCATION_FIELD_SLOT_RELATIVE:
        if (!slot_of(l, index, s, &g))
            return false;
        *value = kind_of(r) == RELOCATION_FIELD_SLOT        ? g + a
                 : kind_of(r) == RELOCATION_FIELD_SLOT_PAGE ? page_of(g + a) - page_of(p)
                                                            : g + a - p;
        return true;
    case RELOCATION_FIELD_REST: /* see value_of_first */
    case RELOCATION_NONE:
    case RELOCATION_UNKNOWN:
        break;
    }
    return false;
}

/* Into the fields of an instruction; a call of what is too far away goes by its slot. */
static bool insert(const Linker *l, const Elf64_Rela *r, u64 s, u64 p, u64 value, u8 *at) {
    u64 slot;
    if (host_link.insert(ELF64_R_TYPE(r->r_info), at, value))
        return true;
    return kind_of(r) == RELOCATION_FIELD_CALL && slot_of(l, ELF64_R_SYM(r->r_info), s, &slot) &&
           host_link.insert(ELF64_R_TYPE(r->r_info), at, slot + SLOT_JUMP + (u64)r->r_addend - p);
}

/* Relocations of one section. */
typedef struct Table {
    const Elf64_Shdr *at;
    const Site *site;
    u64 off; /* of the one that is looked at */
} Table;

static Elf64_Rela relocation_at(const Linker *l, const Table *t, u64 off) {
    Elf64_Rela r;
    memcpy(&r, l->o.at + t->at->sh_offset + off, sizeof(r));
    return r;
}

static bool is_inside(const Site *site, const Elf64_Rela *r) {
    return r->r_offset <= site->size && width_of(kind_of(r)) <= site->size - r->r_offset;
}

static bool value_of_this(Linker *l, const Table *t, const Elf64_Rela *r, u64 *address, u64 *value) {
    return is_inside(t->site, r) && address_of(l, ELF64_R_SYM(r->r_info), address) &&
           value_of(l, r, *address, t->site->run + r->r_offset, t->site->write + r->r_offset, value);
}

/* The value of the relocation at the symbol of this one, which may also come behind it: LLVM orders blocks as it likes. The nearest in front of it is looked at first. */
static bool value_of_first(Linker *l, const Table *t, const Elf64_Rela *rest, u64 *address, u64 *value) {
    u64 first;
    if (rest->r_addend || !address_of(l, ELF64_R_SYM(rest->r_info), &first))
        return false;
    u64 size = t->at->sh_size - t->at->sh_size % sizeof(Elf64_Rela);
    for (u64 n = sizeof(Elf64_Rela); n <= size; n += sizeof(Elf64_Rela)) {
        Elf64_Rela r = relocation_at(l, t, t->off >= n ? t->off - n : t->off + size - n);
        HostRelocation kind = kind_of(&r);
        if (t->site->run + r.r_offset == first &&
            (kind == RELOCATION_FIELD_RELATIVE || kind == RELOCATION_FIELD_SLOT_RELATIVE))
            return value_of_this(l, t, &r, address, value);
    }
    return false;
}

static bool relocate(Linker *l, const Table *t) {
    Elf64_Rela r = relocation_at(l, t, t->off);
    HostRelocation kind = kind_of(&r);
    u64 width = width_of(kind), address, value;
    if (!width)
        return true;
    bool known = kind == RELOCATION_FIELD_REST ? value_of_first(l, t, &r, &address, &value)
                                               : value_of_this(l, t, &r, &address, &value);
    if (!known || !is_inside(t->site, &r))
        return false;
    u8 *at = t->site->write + r.r_offset;
    u64 run = t->site->run + r.r_offset;
    if (kind >= RELOCATION_FIELD_ABSOLUTE)
        return insert(l, &r, address, run, value, at);
    memcpy(at, &value, width); /* little endian: the low bytes */
    if (l->place->moves && kind == RELOCATION_ABSOLUTE_64)
        l->place->moves(l->place->user, run);
    return true;
}

static bool relocate_section(Linker *l, const Elf64_Shdr *table, const Site *site) {
    if (table->sh_type != SHT_RELA || table->sh_entsize != sizeof(Elf64_Rela) ||
        !in_object(&l->o, table->sh_offset, table->sh_size))
        return false;
    Table t = {.at = table, .site = site};
    for (; t.off + sizeof(Elf64_Rela) <= table->sh_size; t.off += sizeof(Elf64_Rela))
        if (!relocate(l, &t))
            return false;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- public */

LatheStatus link_measure(const void *object, size_t size, LinkNeeds *needs) {
    Object o;
    return open_object(&o, object, size) && lay_out(&o, needs, NULL) ? LATHE_OK : LATHE_ERR_LINK;
}

LatheStatus link_place(const void *object, size_t size, const LinkPlace *place) {
    Linker l;
    if (!open_linker(&l, object, size, place))
        return LATHE_ERR_LINK;
    memset(l.addresses, 0, l.o.symbol_count * sizeof(u64));
    copy_sections(&l);
    for (u64 i = 0; i < l.o.section_count; i++) {
        Elf64_Shdr table = section(&l.o, i);
        Site site;
        bool relocations = table.sh_type == SHT_RELA || table.sh_type == SHT_REL;
        if (relocations && locate(&l, table.sh_info, &site) && !relocate_section(&l, &table, &site))
            return LATHE_ERR_LINK;
    }
    return LATHE_OK;
}

/* Is that the name at this place of a table of names? */
static bool is_named(const Object *o, const Elf64_Shdr *names, u64 at, const char *name) {
    size_t len = strlen(name) + 1;
    return at <= names->sh_size && len <= names->sh_size - at && !memcmp(o->at + names->sh_offset + at, name, len);
}

bool link_section(const void *object, size_t size, const LinkPlace *place, const char *name, u64 *address, u64 *bytes) {
    Linker l;
    if (!open_linker(&l, object, size, place) || l.o.section_names >= l.o.section_count)
        return false;
    Elf64_Shdr names = section(&l.o, l.o.section_names);
    if (names.sh_type != SHT_STRTAB || !in_object(&l.o, names.sh_offset, names.sh_size))
        return false;
    for (u64 i = 0; i < l.o.section_count; i++) {
        Elf64_Shdr s = section(&l.o, i);
        Site site;
        if (!is_named(&l.o, &names, s.sh_name, name) || !locate(&l, i, &site))
            continue;
        *address = site.run;
        *bytes = site.size;
        return true;
    }
    return false;
}

void link_symbols(const void *object, size_t size, const LinkPlace *place, LinkDefine *define, void *user) {
    Linker l;
    if (!open_linker(&l, object, size, place))
        return;
    for (u64 i = l.o.first_global; i < l.o.symbol_count; i++) {
        Elf64_Sym s = symbol(&l.o, i);
        const char *name = symbol_name(&l.o, &s);
        u64 address;
        if (name && *name && s.st_shndx != SHN_UNDEF && defined_at(&l, &s, &address))
            define(user, name, address, s.st_size);
    }
}
