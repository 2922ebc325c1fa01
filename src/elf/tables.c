/* tables.c: where computed jumps of a function may lead, as it looks from outside.
 *
 * Position-independent code jumps through a table of distances from the table itself, whose address it gets by `lea`.
 * How many entries there are only the code knows; here a table ends where an entry leads out of the function, or
 * another table begins. Other code computes its way into itself: from a place that it also gets by `lea`, often by a
 * multiple of a cache line, as memcpy does. So this is a guess, for code that the lifter could not follow. */
#include <stdlib.h>

#include "elf/parts.h"

enum { ENTRIES_MAX = 1024, ENTRIES_MIN = 2, LEA_BYTES = 7, LINE = 64, LINES_MAX = 16 };

typedef struct Table {
    u64 addr;
    const ElfFunction *f;
} Table;

typedef VEC(Table) Tables;

/* lea r64, [rip + disp32]: REX.W with or without REX.R, 8d, mod 00 and r/m 101 (SDM 2A, 2.2.1.6). */
static bool is_lea(const u8 *bytes) {
    return (bytes[0] & 0xfb) == 0x48 && bytes[1] == 0x8d && (bytes[2] & 0xc7) == 5;
}

static bool may_be_table(const ElfFile *elf, u64 addr) {
    const Segment *s = elf_segment(elf, addr);
    return s && !s->writable && addr % 4 == 0;
}

static void add_places(const ElfFunction *f, u64 to, ElfPointers *found) {
    u32 count = to % LINE ? 1 : LINES_MAX;
    for (u32 i = 0; i < count && to - f->addr < f->size; i++, to += LINE)
        VEC_PUSH(found, ((ElfPointer){0, to}));
}

static void find_tables(const ElfFile *elf, const ElfFunction *f, Tables *tables, ElfPointers *found) {
    const u8 *bytes = elf_contents(elf, f->addr, f->size);
    for (u64 off = 0; bytes && off + LEA_BYTES <= f->size; off++) {
        i32 distance;
        if (!is_lea(bytes + off))
            continue;
        memcpy(&distance, bytes + off + 3, sizeof(distance));
        u64 addr = f->addr + off + LEA_BYTES + (u64)(i64)distance;
        if (addr > f->addr && addr - f->addr < f->size)
            add_places(f, addr, found);
        else if (may_be_table(elf, addr))
            VEC_PUSH(tables, ((Table){addr, f}));
    }
}

static int by_addr(const void *a, const void *b) {
    const Table *x = a, *y = b;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static void read_entries(const ElfFile *elf, const Table *t, u64 end, ElfPointers *found) {
    size_t before = found->len;
    for (u64 at = t->addr; at < end && found->len - before < ENTRIES_MAX; at += 4) {
        const u8 *bytes = elf_contents(elf, at, 4);
        i32 distance;
        if (!bytes)
            break;
        memcpy(&distance, bytes, sizeof(distance));
        u64 to = t->addr + (u64)(i64)distance;
        if (to - t->f->addr > t->f->size) /* to its end: for a value that cannot be */
            break;
        VEC_PUSH(found, ((ElfPointer){at, to}));
    }
    if (found->len - before < ENTRIES_MIN)
        found->len = before;
}

void elf_table_entries(const ElfFile *elf, ElfPointers *found) {
    Tables tables = {0};
    for (size_t i = 0; i < elf->functions.len; i++)
        find_tables(elf, &elf->functions.at[i], &tables, found);
    if (tables.len)
        qsort(tables.at, tables.len, sizeof(*tables.at), by_addr);
    for (size_t i = 0; i < tables.len; i++) {
        size_t next = i + 1;
        while (next < tables.len && tables.at[next].addr == tables.at[i].addr)
            next++;
        read_entries(elf, &tables.at[i], next < tables.len ? tables.at[next].addr : UINT64_MAX, found);
    }
    VEC_FREE(&tables);
}
