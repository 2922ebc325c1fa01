/* keep.c: all quick code, for another process that has the same modules at the same addresses; see image.c. */
#include "run/client/arena.h"
#include "run/client/quick/blocks.h"
#include "run/client/quick/quick.h"

u64 quick_count(void) {
    return block_count();
}

void quick_drop(bool (*keeps)(u64 pc)) {
    pages_release();
    for (u32 n = 1; n <= block_count(); n++) {
        const Block *b = block_no(n);
        if (!b->dead && (!keeps(b->pc) || !keeps(b->pc + b->size - 1)))
            block_kill(n);
    }
}

/* What a thread has looked up: the four tables have one layout. */
typedef struct Found {
    u32 table, index;
    u64 pc, code;
} Found;

static Array list_found(const Thread *t) {
    Array list = {0};
    for (u32 table = 0; table < 2; table++)
        for (u32 i = 0; i < QUICK_TABLE; i++) {
            u64 pc = table ? t->jump_pc[i] : t->table_pc[i];
            if (pc)
                *(Found *)array_extend(&list, sizeof(Found)) = (Found){table, i, pc, table ? t->jump_code[i] : t->table_code[i]};
        }
    return list;
}

static void set_found(Thread *t, const Found *f, u64 count) {
    for (u64 i = 0; i < count; i++) {
        u32 index = f[i].index % QUICK_TABLE;
        (f[i].table ? t->jump_pc : t->table_pc)[index] = f[i].pc;
        (f[i].table ? t->jump_code : t->table_code)[index] = f[i].code;
    }
}

void quick_export(const Thread *t, QuickParts *p) {
    const Blocks *q = &quick_all;
    ArenaParts arena = arena_export();
    Array found = list_found(t);
    *p = (QuickParts){
        {arena.code, arena.data, q->blocks.at, q->exits.at, q->lens.at, q->bitmaps.at, (u8 *)q->pages, found.at},
        {arena.code_size, arena.data_size, q->blocks.len, q->exits.len, q->lens.len, q->bitmaps.len, q->page_cap * sizeof(Page),
         found.len},
    };
}

/* In memory that sys_pages_free can free, too. */
static Array array_of(u8 *at, u64 size) {
    return (Array){at, size, page_up(size)};
}

void quick_import(Thread *t, const QuickParts *p) {
    Blocks *q = &quick_all;
    arena_import(&(ArenaParts){p->at[0], p->at[1], p->size[0], p->size[1]});
    q->blocks = array_of(p->at[2], p->size[2]);
    q->exits = array_of(p->at[3], p->size[3]);
    q->lens = array_of(p->at[4], p->size[4]);
    q->bitmaps = array_of(p->at[5], p->size[5]);
    sys_pages_free(q->pages, q->page_cap * sizeof(Page));
    q->pages = (Page *)p->at[6];
    q->page_cap = p->size[6] / sizeof(Page);
    q->page_count = q->bitmaps.len / (PAGE / 8);
    set_found(t, (const Found *)p->at[7], p->size[7] / sizeof(Found));
}
