/* blocks.c: see blocks.h. */
#include "run/client/code/quick/blocks.h"

#include "host_stubs.h"
#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/above.h"
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/quick/tally.h"
#include "run/client/memory/own.h"
#include "run/client/tool/sites.h"

enum { FIRST_PAGES = 1 << 10, STUB_CHUNK = 4096 };

Blocks quick_all;

/* --------------------------------------------------------------------------------------------------------------- pages */

static Page *slot_of(Page *pages, u64 cap, u64 number) {
    u64 i = number * 0x9e3779b97f4a7c15u >> 40 & (cap - 1);
    while (pages[i].used && pages[i].number != number)
        i = (i + 1) & (cap - 1);
    return &pages[i];
}

static void grow_pages(void) {
    u64 cap = quick_all.page_cap * 2;
    Page *bigger = sys_pages(cap * sizeof(Page));
    if (!bigger)
        die("no memory for the tables of translated code");
    for (u64 i = 0; i < quick_all.page_cap; i++)
        if (quick_all.pages[i].used)
            *slot_of(bigger, cap, quick_all.pages[i].number) = quick_all.pages[i];
    sys_pages_free(quick_all.pages, quick_all.page_cap * sizeof(Page));
    quick_all.pages = bigger;
    quick_all.page_cap = cap;
}

Page *page_known(u64 number) {
    Page *p = slot_of(quick_all.pages, quick_all.page_cap, number);
    return p->used ? p : NULL;
}

Page *page_for(u64 number) {
    if (quick_all.page_count * 2 >= quick_all.page_cap)
        grow_pages();
    Page *p = slot_of(quick_all.pages, quick_all.page_cap, number);
    if (!p->used) {
        *p = (Page){.number = number, .used = true, .known = (u32)quick_all.page_count++};
        array_extend(&quick_all.bitmaps, PAGE / 8);
    }
    return p;
}

static u64 first_page(const QuickBlock *b) {
    return b->pc >> PAGE_SHIFT;
}

static u64 last_page(const QuickBlock *b) {
    return (b->pc + b->size - 1) >> PAGE_SHIFT;
}

static u32 *next_in_page(QuickBlock *b, u64 page) {
    return &b->next[page != first_page(b)];
}

u32 page_first(u64 page) {
    const Page *p = page_known(page);
    return p ? p->first : 0;
}

u32 page_next(u32 block, u64 page) {
    return *next_in_page(block_no(block), page);
}

static void add_to_page(u32 number, u64 page) {
    Page *p = page_for(page);
    *next_in_page(block_no(number), page) = p->first;
    p->first = number;
}

static void remove_from_page(u32 number, u64 page) {
    u32 *at = &page_for(page)->first;
    while (*at && *at != number)
        at = next_in_page(block_no(*at), page);
    if (*at)
        *at = *next_in_page(block_no(number), page);
}

/* The byte with the bit of pc in its page's bitmap. */
static u8 *byte_for(const Page *p, u64 pc) {
    return quick_all.bitmaps.at + p->known * (PAGE / 8) + pc % PAGE / 8;
}

static void mark_known(const QuickBlock *b) {
    u64 pc = b->pc;
    for (u32 i = 0; i < b->insns; i++) {
        const Page *p = page_for(pc >> PAGE_SHIFT);
        *byte_for(p, pc) |= (u8)(1 << pc % 8);
        pc += lens_guest(block_lens(b)[i]);
    }
}

/* --------------------------------------------------------------------------------------------------------------- tables */

/* The index at which the tables have the target of a call; return_index: that of a return or jump. */
static u32 call_index(u64 pc) {
    return (u32)(pc >> 4) % QUICK_TABLE;
}

static u32 return_index(u64 pc) {
    return (u32)pc % QUICK_TABLE;
}

/* An entry is at its index, or beside it if it had to make room for another one. */
static u32 beside(u32 index) {
    return index ^ 1;
}

static void set_table(Thread *t, u32 index, u64 pc, const u8 *code) {
    if (t->lookup.pc[index] != pc && t->lookup.pc[index] != QUICK_NO_TARGET(index)) {
        t->lookup.pc[beside(index)] = t->lookup.pc[index];
        t->lookup.code[beside(index)] = t->lookup.code[index];
    }
    t->lookup.pc[index] = pc;
    t->lookup.code[index] = (u64)code;
}

/* Notes the target in the map. Returns false if the map has no words for such addresses: they are in the threads' tables. */
static bool set_in_map(u64 pc, const u8 *code) {
    if (!map_covers(pc))
        return false;
    map_set(pc, code - emit_entry_bytes);
    return true;
}

void table_set_call(Thread *t, u64 pc, const u8 *code) {
    if (!set_in_map(pc, code))
        set_table(t, call_index(pc), pc, code);
}

void table_set_return(Thread *t, u64 pc, const u8 *code) {
    if (!set_in_map(pc, code))
        set_table(t, return_index(pc), pc, code);
}

void table_set_jump(Thread *t, u64 pc, const u8 *code) {
    if (set_in_map(pc, code))
        return;
    t->lookup.jump_pc[return_index(pc)] = -pc;
    t->lookup.jump_code[return_index(pc)] = (u64)code;
}

static void clear(u64 *table, u32 index, u64 pc) {
    if (table[index] == pc)
        table[index] = QUICK_NO_TARGET(index);
}

void tables_init(Thread *t) {
    t->lookup.pc[0] = t->lookup.jump_pc[0] = QUICK_NO_TARGET(0);
    t->lookup.pc[1] = QUICK_NO_TARGET(1);
}

u64 quick_tables_age(void) {
    return __atomic_load_n(&quick_all.tables_age, __ATOMIC_ACQUIRE);
}

void tables_clear(u64 pc) {
    __atomic_fetch_add(&quick_all.tables_age, 1, __ATOMIC_RELEASE);
    if (map_covers(pc)) {
        map_clear(pc);
        return;
    }
    for (Thread *t = the.threads; t; t = t->next) {
        clear(t->lookup.pc, call_index(pc), pc);
        clear(t->lookup.pc, beside(call_index(pc)), pc);
        clear(t->lookup.pc, return_index(pc), pc);
        clear(t->lookup.pc, beside(return_index(pc)), pc);
        clear(t->lookup.jump_pc, return_index(pc), -pc);
    }
}

/* --------------------------------------------------------------------------------------------------------------- exits */

static void set_site(u8 *site, const u8 *target) {
    u32 *word = (u32 *)arena_writable(site);
    __atomic_store_n(word, stub_site(*word, site, target), __ATOMIC_RELEASE);
    arena_written(site, sizeof(*word));
}

static u8 *new_stub(u32 number) {
    if (quick_all.stubs_end - quick_all.stubs < EMIT_LEAVE_BYTES) {
        quick_all.stubs = arena_code(STUB_CHUNK, 16);
        quick_all.stubs_end = quick_all.stubs + STUB_CHUNK;
    }
    Emitter e;
    e.at = quick_all.stubs;
    emit_leave(&e, number);
    arena_written(quick_all.stubs, EMIT_LEAVE_BYTES);
    quick_all.stubs = e.at;
    return e.at - EMIT_LEAVE_BYTES;
}

static void unlink_exit(u32 number) {
    Exit *x = exit_no(number);
    if (!x->stub)
        x->stub = new_stub(number);
    x->linked = false;
    if (x->kind == EXIT_LINKAGE)
        emit_set_linkage(x->site, 0);
    if (x->kind == EXIT_ONCE)
        x->under = emit_begin_switch(x->site, x->stub);
    else
        set_site(x->site, x->stub);
}

void exit_end_once(u32 number) {
    Exit *x = exit_no(number);
    if (!x->linked)
        emit_end_switch(x->site, x->under);
    x->linked = true;
}

void exits_begin_once(void) {
    for (u32 i = 1; i <= exit_count(); i++) {
        const Exit *x = exit_no(i);
        if (x->kind == EXIT_ONCE && x->linked)
            unlink_exit(i);
        if (x->kind == EXIT_LINKAGE && x->linked)
            emit_set_linkage(x->site, 0);
    }
}

/* Returns false if the target has no code. */
static bool link_exit(u32 number) {
    Exit *x = exit_no(number);
    u32 target;
    u8 *code = (x->kind == EXIT_INSIDE ? block_find_inside : block_find)(x->pc, &target);
    if (!code)
        return false;
    x->linked = true;
    x->next = block_no(target)->incoming;
    block_no(target)->incoming = number;
    set_site(x->site, code);
    return true;
}

void exit_link(u32 number) {
    const Exit *x = exit_no(number);
    if (x->linked)
        return;
    bool first_use = x->kind == EXIT_ONCE || x->kind == EXIT_LINKAGE || x->kind == EXIT_UNBOUND ||
                     (x->kind == EXIT_CALL_FLAGS && !quick_keeps_flags());
    if (first_use || !link_exit(number))
        unlink_exit(number);
}

/* The direct way is set once and never changed to another target, because another thread may be between its comparison and its jump. */
void exit_link_linkage(u32 number, u64 target) {
    Exit *x = exit_no(number), *direct = exit_no(number + 1);
    bool other = direct->kind != EXIT_UNBOUND && direct->pc != target;
    if (x->linked || !link_exit(number) || other)
        return;
    direct->pc = target;
    direct->kind = EXIT_CALL;
    exit_link(number + 1);
    emit_set_linkage(x->site, target);
}

u32 exit_new(ExitKind kind, u64 pc, u8 *site) {
    Exit *x = array_extend(&quick_all.exits, sizeof(Exit));
    *x = (Exit){.pc = pc, .site = site, .kind = (u8)kind};
    return exit_count();
}

void exits_redirect(u64 pc, const u8 *code) {
    u64 page = pc >> PAGE_SHIFT;
    for (u32 n = page_first(page); n; n = page_next(n, page))
        for (u32 x = block_no(n)->incoming; x; x = exit_no(x)->next)
            if (exit_no(x)->pc == pc)
                set_site(exit_no(x)->site, code);
    tables_clear(pc);
}

/* -------------------------------------------------------------------------------------------------------------- blocks */

static void add_to_pages(u32 number) {
    const QuickBlock *b = block_no(number);
    add_to_page(number, first_page(b));
    if (last_page(b) != first_page(b))
        add_to_page(number, last_page(b));
}

u32 block_add(const QuickBlock *b) {
    *(QuickBlock *)array_extend(&quick_all.blocks, sizeof(QuickBlock)) = *b;
    u32 number = block_count();
    add_to_pages(number);
    mark_known(b);
    return number;
}

void block_kill(u32 number) {
    QuickBlock *b = block_no(number);
    u64 pc = b->pc;
    for (u32 i = 0; i < b->insns; i++) {
        tables_clear(pc);
        code_discard_at(pc);
        pc += lens_guest(block_lens(b)[i]);
    }
    for (u32 x = b->incoming, next; x; x = next) {
        next = exit_no(x)->next;
        unlink_exit(x);
    }
    remove_from_page(number, first_page(b));
    if (last_page(b) != first_page(b))
        remove_from_page(number, last_page(b));
    sites_kill(b->first_site, b->sites);
    b->incoming = 0;
    b->dead = true;
    quick_all.dead++;
}

/* The block's own exits were linked and unlinked while it was dead, and the bitmaps of its pages still have its instructions. */
void block_raise(u32 number) {
    QuickBlock *b = block_no(number);
    add_to_pages(number);
    b->enter = NULL;
    b->entry = b->dead = false;
    quick_all.dead--;
}

/* The block's code for the instruction at pc: for a jump to it, or (inside) for a thread that comes to it in the middle of what a tool sees as a
 * block. NULL: no instruction begins there, or this one may not be entered in this way. */
static u8 *code_in(const QuickBlock *b, u64 pc, bool inside) {
    const InsnLens *lens = block_lens(b);
    u64 at = b->pc;
    u8 *code = b->code;
    if (pc == at && b->enter && !inside)
        return b->enter;
    u32 i = 0;
    for (; i < b->insns && (at < pc || lens[i].behind); i++) {
        at += lens_guest(lens[i]);
        code += lens[i].host;
    }
    bool found = at == pc && i < b->insns;
    return found && (inside ? !lens[i].head && lens[i].run : lens[i].head) && emit_has_all(code) ? code : NULL;
}

static u8 *find(u64 pc, u32 *number, bool inside) {
    u64 page = pc >> PAGE_SHIFT;
    const Page *p = page_known(page);
    if (!p || !(*byte_for(p, pc) >> pc % 8 & 1))
        return NULL;
    for (u32 n = p->first; n; n = page_next(n, page)) {
        const QuickBlock *b = block_no(n);
        u8 *code = pc - b->pc < b->size ? code_in(b, pc, inside) : NULL;
        if (code) {
            *number = n;
            return code;
        }
    }
    return NULL;
}

u8 *block_find(u64 pc, u32 *number) {
    return find(pc, number, false);
}

u8 *block_find_inside(u64 pc, u32 *number) {
    return find(pc, number, true);
}

u32 block_at(u64 pc) {
    u64 page = pc >> PAGE_SHIFT;
    u32 n = page_first(page);
    while (n && (block_no(n)->pc != pc || block_no(n)->inside))
        n = page_next(n, page);
    return n;
}

u64 block_next(u64 pc) {
    u64 page = pc >> PAGE_SHIFT, nearest = ~(u64)0;
    for (u32 n = page_first(page); n; n = page_next(n, page)) {
        u64 start = block_no(n)->pc;
        if (start >= pc && start < nearest)
            nearest = start;
    }
    return nearest;
}

void blocks_forget_all(void) {
    pages_release();
    site_forget_all();
    tallies_forget_all();
    emit_forget_all();
    array_free(&quick_all.blocks);
    array_free(&quick_all.exits);
    array_free(&quick_all.lens);
    array_free(&quick_all.bitmaps);
    array_free(&quick_all.texts);
    memset(quick_all.pages, 0, quick_all.page_cap * sizeof(Page));
    quick_all.page_count = quick_all.dead = 0;
    quick_all.stubs = quick_all.stubs_end = NULL;
}

bool blocks_init(void) {
    quick_all.page_cap = FIRST_PAGES;
    quick_all.pages = sys_pages(FIRST_PAGES * sizeof(Page));
    return quick_all.pages;
}
