/* export.c: the parts of an image that the quick tier has: its tables, for a later process that has the same modules at the same addresses; see image.c. */
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"
#include "run/client/memory/own.h"

u64 quick_count(void) {
    return block_count();
}

static bool is_kept(const QuickBlock *b, bool (*keeps)(u64 pc)) {
    return !b->dead && keeps(b->pc) && keeps(b->pc + b->size - 1);
}

u64 quick_count_kept(u64 first, bool (*keeps)(u64 pc)) {
    u64 count = 0;
    for (u64 n = first + 1; n <= block_count(); n++)
        count += is_kept(block_no((u32)n), keeps);
    return count;
}

void quick_drop(bool (*keeps)(u64 pc)) {
    pages_release();
    blocks_forget_suspended();
    for (u32 n = 1; n <= block_count(); n++)
        if (!block_no(n)->dead && !is_kept(block_no(n), keeps))
            block_kill(n);
}

/* An entry of a thread's lookup tables. With a map, the tables have only code that is not at low addresses, which is hardly ever kept; then no entries are. */
typedef struct Found {
    u32 table, index;
    u64 pc, code;
} Found;

static Array list_found(const Thread *t) {
    Array list = {0};
    for (u32 table = 0; table < 2 && !the.map; table++)
        for (u32 i = 0; i < QUICK_TABLE; i++) {
            u64 pc = table ? t->lookup.jump_pc[i] : t->lookup.pc[i];
            if (pc && pc != QUICK_NO_TARGET(0))
                *(Found *)array_extend(&list, sizeof(Found)) =
                    (Found){table, i, pc, table ? t->lookup.jump_code[i] : t->lookup.code[i]};
        }
    return list;
}

/* If there are many entries, nearly every page of the tables is touched; it is faster to let the kernel provide all of them at once. */
static void set_found(Thread *t, const Found *f, u64 count) {
    enum { MANY = 1000, POPULATE_WRITE = 23 };
    if (count > MANY)
        sys_madvise((u64)t->lookup.pc, (u64)(t + 1) - (u64)t->lookup.pc, POPULATE_WRITE);
    for (u64 i = 0; i < count; i++) {
        u32 index = f[i].index % QUICK_TABLE;
        (f[i].table ? t->lookup.jump_pc : t->lookup.pc)[index] = f[i].pc;
        (f[i].table ? t->lookup.jump_code : t->lookup.code)[index] = f[i].code;
    }
}

/* Leaves room for what the next run will add to it, if it is used at all. */
static ImagePart part_of(Array a) {
    enum { SHARE = 4, LEAST = 64 << 10 };
    if (!a.len)
        return (ImagePart){0};
    return (ImagePart){a.at, a.len, a.len + a.len / SHARE + LEAST};
}

void quick_export(const Thread *t, ImagePart parts[QUICK_PARTS]) {
    const Blocks *q = &quick_all;
    Array found = list_found(t), runs = map_runs();
    const ImagePart all[QUICK_PART_SITES] = {
        part_of(q->blocks),
        part_of(q->exits),
        part_of(q->lens),
        part_of(q->bitmaps),
        {(u8 *)q->pages, q->page_cap * sizeof(Page), 0},
        {found.at, found.len, 0},
        {runs.at, runs.len, 0},
    };
    memcpy(parts, all, sizeof(all));
    for (u32 i = 0; i < SITE_LISTS; i++)
        parts[QUICK_PART_SITES + i] = part_of(*sites_list(i));
}

/* The array grows in the image's memory, which is in whole pages, so that sys_pages_free can free it. */
static Array array_of(ImagePart p) {
    return !p.size ? (Array){0} : (Array){p.at, p.size, p.room};
}

void quick_import(Thread *t, const ImagePart parts[QUICK_PARTS]) {
    Blocks *q = &quick_all;
    q->blocks = array_of(parts[0]);
    q->exits = array_of(parts[1]);
    q->lens = array_of(parts[2]);
    q->bitmaps = array_of(parts[3]);
    sys_pages_free(q->pages, q->page_cap * sizeof(Page));
    q->pages = (Page *)parts[4].at;
    q->page_cap = parts[4].size / sizeof(Page);
    q->page_count = q->bitmaps.len / (PAGE / 8);
    for (u32 i = 0; i < SITE_LISTS; i++)
        *sites_list(i) = array_of(parts[QUICK_PART_SITES + i]);
    set_found(t, (const Found *)parts[5].at, parts[5].size / sizeof(Found));
}
