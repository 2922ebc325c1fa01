/* frames.c: see frames.h. The format is that of the Linux Standard Base (Exception Frames), which is almost .debug_frame of DWARF: records that describe functions (FDE), each
 * of which refers to one with what several functions have in common (CIE). */
#include "run/client/tool/unwind/frames.h"

#include <elf.h>

#include "lathe/tool.h"

typedef struct Section {
    const u8 *at;
    u64 size, address;
} Section;

typedef struct Function {
    u64 start, size;
    const u8 *record; /* behind its length */
} Function;

struct FrameTable {
    Section section;
    LatheVector functions; /* of Function, by their addresses */
};

/* ---------------------------------------------------------------------------------------------------------- the section */

static const void *part_of(const u8 *file, u64 size, u64 off, u64 bytes) {
    return off <= size && bytes <= size - off ? file + off : NULL;
}

static bool is_named(const u8 *file, u64 size, const Elf64_Shdr *names, u32 off, const char *name) {
    const char *text = part_of(file, size, names->sh_offset + off, strlen(name) + 1);
    return text && !memcmp(text, name, strlen(name) + 1);
}

/* Without such a section, its `at` is NULL. */
static Section find_section(const u8 *file, u64 size, const char *name) {
    const Elf64_Ehdr *head = part_of(file, size, 0, sizeof(*head));
    const Elf64_Shdr *all = head ? part_of(file, size, head->e_shoff, (u64)head->e_shnum * sizeof(*all)) : NULL;
    for (u32 i = 0; all && head->e_shstrndx < head->e_shnum && i < head->e_shnum; i++)
        if (all[i].sh_type != SHT_NOBITS && is_named(file, size, &all[head->e_shstrndx], all[i].sh_name, name))
            return (Section){part_of(file, size, all[i].sh_offset, all[i].sh_size), all[i].sh_size, all[i].sh_addr};
    return (Section){0};
}

/* ---------------------------------------------------------------------------------------------------------- the records */

enum { POINTER_SIGNED = 8, POINTER_RELATIVE = 0x10, POINTER_OMITTED = 0xff };
enum { ABSOLUTE, LEB, TWO_BYTES, FOUR_BYTES, EIGHT_BYTES };

static u64 read_number(Cursor *c, u8 encoding) {
    bool is_signed = encoding & POINTER_SIGNED;
    switch (encoding & 7) {
    case ABSOLUTE:
    case EIGHT_BYTES:
        return cursor_fixed(c, 8);
    case LEB:
        return is_signed ? (u64)cursor_sleb(c) : cursor_uleb(c);
    case TWO_BYTES:
        return is_signed ? (u64)cursor_signed(c, 2) : cursor_fixed(c, 2);
    case FOUR_BYTES:
        return is_signed ? (u64)cursor_signed(c, 4) : cursor_fixed(c, 4);
    default:
        c->bad = true;
        return 0;
    }
}

/* An address is absolute, or relative to where it stands. */
static u64 read_pointer(const Section *s, Cursor *c, u8 encoding) {
    u64 place = s->address + (u64)(c->at - s->at), base = encoding & POINTER_RELATIVE ? place : 0;
    c->bad |= encoding & 0xe0;
    return base + read_number(c, encoding);
}

/* What several functions have in common. */
typedef struct Common {
    u64 code_factor;
    i64 data_factor;
    u32 return_register;
    bool has_data,
        is_signal; /* has_data: a record of a function has a length, and so many bytes, in front of its instructions */
    u8 encoding;
    Cursor instructions;
} Common;

/* Each letter says that something is there. */
static void read_augmentation(const Section *s, const char *letters, Cursor *c, Common *common) {
    for (; *letters && !c->bad; letters++)
        switch (*letters) {
        case 'L':
            cursor_byte(c);
            break;
        case 'P':
            read_pointer(s, c, cursor_byte(c) & 0x1f);
            break;
        case 'R':
            common->encoding = cursor_byte(c);
            break;
        case 'S':
            common->is_signal = true;
            break;
        default: /* a flag, or nothing that can be known: the rest is skipped */
            break;
        }
}

static bool read_common(const Section *s, Cursor record, Common *common) {
    enum { VERSION_BYTE = 1 };
    u8 version = cursor_byte(&record);
    const char *letters = (const char *)record.at;
    while (cursor_byte(&record))
        ;
    *common = (Common){.code_factor = cursor_uleb(&record), .data_factor = 0};
    common->data_factor = cursor_sleb(&record);
    common->return_register = version == VERSION_BYTE ? cursor_byte(&record) : (u32)cursor_uleb(&record);
    common->has_data = !record.bad && *letters == 'z';
    if (common->has_data) {
        Cursor data = cursor_part(&record, cursor_uleb(&record));
        read_augmentation(s, letters + 1, &data, common);
        record.bad |= data.bad;
    } else if (!record.bad && *letters) {
        return false;
    }
    common->instructions = record;
    return !record.bad;
}

/* A record without its length; its first word says what it is. */
static Cursor next_record(Cursor *all) {
    u64 size = cursor_fixed(all, 4);
    all->bad |= !size || size == 0xffffffff; /* the end; or more than there can be */
    return cursor_part(all, size);
}

/* The common record that one of a function refers to, by how far it is in front of the reference. */
static bool find_common(const Section *s, const u8 *reference, u32 distance, Common *common) {
    enum { LENGTH = 4, IDENTITY = 4 };
    if ((u64)(reference - s->at) < (u64)distance)
        return false;
    Cursor at = {reference - distance, s->at + s->size, false};
    Cursor record = next_record(&at);
    return !cursor_fixed(&record, IDENTITY) && !record.bad && read_common(s, record, common);
}

/* False: it is none of a function, or damaged. */
static bool read_function(const Section *s, Cursor record, Common *common, Function *f, Cursor *own) {
    const u8 *begin = record.at;
    u32 distance = (u32)cursor_fixed(&record, 4);
    if (record.bad || !distance || !find_common(s, begin, distance, common))
        return false;
    *f = (Function){.start = read_pointer(s, &record, common->encoding), .record = begin};
    f->size = read_number(&record, common->encoding & 7);
    if (common->has_data)
        cursor_skip(&record, cursor_uleb(&record));
    *own = record;
    return !record.bad;
}

/* ------------------------------------------------------------------------------------------------------------ the table */

static int by_start(const void *a, const void *b) {
    const Function *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

FrameTable *frames_read(const u8 *file, u64 size) {
    FrameTable *table = lathe_alloc(sizeof(*table));
    table->functions = (LatheVector)LATHE_VECTOR(Function);
    table->section = file ? find_section(file, size, ".eh_frame") : (Section){0};
    const Section *s = &table->section;
    Cursor all = {s->at, s->at ? s->at + s->size : NULL, !s->at};
    while (!all.bad) {
        Common common;
        Function f;
        Cursor record = next_record(&all), own;
        if (!all.bad && read_function(s, record, &common, &f, &own))
            *(Function *)lathe_vector_add(&table->functions) = f;
    }
    lathe_sort(table->functions.at, table->functions.count, sizeof(Function), by_start);
    return table;
}

static const Function *function_at(const FrameTable *table, u64 address) {
    const Function *all = table->functions.at;
    size_t low = 0, high = table->functions.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address - all[low - 1].start < all[low - 1].size ? &all[low - 1] : NULL;
}

bool frames_find(const FrameTable *table, u64 address, FrameRules *rules) {
    const Function *f = function_at(table, address);
    const Section *s = &table->section;
    Common common;
    Function again;
    Cursor own;
    if (!f)
        return false;
    Cursor all = {f->record - 4, s->at + s->size, false};
    if (!read_function(s, next_record(&all), &common, &again, &own))
        return false;
    *rules = (FrameRules){
        f->start, common.code_factor, common.data_factor, common.return_register, common.is_signal, common.instructions,
        own};
    return true;
}
