/* quick.c: the quick tier: blocks of guest code, made by copying instructions, and what connects them.
 *
 * Where guest and host are the same kind of machine, an instruction's own encoding is its fastest translation and the only one
 * that needs no semantics: emit.c copies it. All guest registers are in their own host registers, so the guest's state is exact
 * at every instruction, and every instruction of a block is a place where a jump may lead.
 *
 * A block begins where the guest arrived and goes on over conditional jumps and calls to the next jump or return, or to code
 * that there is already. Its exits are jumps whose displacement leads to a stub at first, which asks for the target by the
 * exit's number, and to the target's code once there is some. Blocks are found by the guest page they lie in; where the guest
 * may write to such a page, the host may not, and a write makes the page's blocks go away. */
#include "run/client/quick.h"

#include "run/client/arena.h"
#include "run/client/emit.h"
#include "run/client/frame.h"
#include "run/client/space.h"
#include "run/client/tier.h"

enum { PAGE_SHIFT = 12, STUB_CHUNK = 4096, FIRST_PAGES = 1 << 10, FLAG_TRAP = 1 << 8, INSN_BYTES = 15 };
enum { BLOCK_BYTES = (2 * EMIT_INSNS + 1) * EMIT_INSN_BYTES };

typedef struct Block {
    u64 pc;
    u8 *code;
    u32 size, code_size; /* bytes of guest and host */
    u32 lens;            /* where its instructions' lengths begin: two bytes each, guest and host */
    u32 insns;
    u32 next[2];  /* in the lists of the first and the last page it touches; numbers are from 1 */
    u32 incoming; /* exits that lead here */
    u8 *enter;    /* optimised code for its first instruction takes over by this; NULL: there is none */
    bool entry;   /* a function begins here */
    bool goes_on; /* behind its last instruction is a jump to the next one */
    bool dead;
} Block;

typedef struct Exit {
    u64 pc;
    u8 *site, *stub; /* the displacement of its jump, and where that leads without a target; NULL: none (yet) */
    u32 next;        /* of the target's incoming ones */
    u8 kind;
} Exit;

typedef struct Page {
    u64 number;
    u32 first; /* block; 0: none (any more) */
    u32 known; /* number of its bitmap: where instructions of blocks begin; what is forgotten may stay behind in it */
    bool used, guarded;
} Page;

typedef struct Array {
    u8 *at;
    u64 len, cap; /* bytes */
} Array;

typedef struct Quick {
    Array blocks, exits, lens;
    Array bitmaps; /* of pages */
    Page *pages;
    u64 page_count, page_cap, guarded;
    bool ever_guarded;
    u8 *stubs, *stubs_end;
} Quick;

static Quick quick;

/* -------------------------------------------------------------------------------------------------------------- arrays */

static void *extend(Array *a, u64 bytes) {
    if (a->len + bytes > a->cap) {
        u64 cap = a->cap ? a->cap * 2 : 1 << 16;
        u8 *bigger = sys_pages(cap);
        if (!bigger)
            die("no memory for the tables of translated code");
        if (a->at) {
            memcpy(bigger, a->at, a->len);
            sys_pages_free(a->at, a->cap);
        }
        a->at = bigger;
        a->cap = cap;
    }
    a->len += bytes;
    return a->at + a->len - bytes;
}

static Block *block_no(u32 number) {
    return (Block *)quick.blocks.at + number - 1;
}

static Exit *exit_no(u32 number) {
    return (Exit *)quick.exits.at + number - 1;
}

static u32 block_count(void) {
    return (u32)(quick.blocks.len / sizeof(Block));
}

static u32 exit_count(void) {
    return (u32)(quick.exits.len / sizeof(Exit));
}

/* --------------------------------------------------------------------------------------------------------------- pages */

static Page *slot_of(Page *pages, u64 cap, u64 number) {
    u64 i = number * 0x9e3779b97f4a7c15u >> 40 & (cap - 1);
    while (pages[i].used && pages[i].number != number)
        i = (i + 1) & (cap - 1);
    return &pages[i];
}

static void grow_pages(void) {
    u64 cap = quick.page_cap * 2;
    Page *bigger = sys_pages(cap * sizeof(Page));
    if (!bigger)
        die("no memory for the tables of translated code");
    for (u64 i = 0; i < quick.page_cap; i++)
        if (quick.pages[i].used)
            *slot_of(bigger, cap, quick.pages[i].number) = quick.pages[i];
    sys_pages_free(quick.pages, quick.page_cap * sizeof(Page));
    quick.pages = bigger;
    quick.page_cap = cap;
}

static Page *page_for(u64 number) {
    if (quick.page_count * 2 >= quick.page_cap)
        grow_pages();
    Page *p = slot_of(quick.pages, quick.page_cap, number);
    if (!p->used) {
        *p = (Page){.number = number, .used = true, .known = (u32)quick.page_count++};
        extend(&quick.bitmaps, PAGE / 8);
    }
    return p;
}

static u64 first_page(const Block *b) {
    return b->pc >> PAGE_SHIFT;
}

static u64 last_page(const Block *b) {
    return (b->pc + b->size - 1) >> PAGE_SHIFT;
}

static u32 *next_in_page(Block *b, u64 page) {
    return &b->next[page != first_page(b)];
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

/* -------------------------------------------------------------------------------------------------------------- lookup */

/* Code for the instruction at pc in a block; NULL: no instruction of it begins there. */
static u8 *code_in(const Block *b, u64 pc) {
    const u8 *lens = quick.lens.at + b->lens;
    u64 at = b->pc;
    u8 *code = b->code;
    if (pc == at && b->enter)
        return b->enter;
    for (u32 i = 0; i < b->insns && at < pc; i++) {
        at += lens[2 * i];
        code += lens[2 * i + 1];
    }
    return at == pc ? code : NULL;
}

/* The byte with the bit of pc in its page's bitmap. */
static u8 *byte_for(const Page *p, u64 pc) {
    return quick.bitmaps.at + p->known * (PAGE / 8) + pc % PAGE / 8;
}

static void mark_known(const Block *b) {
    u64 pc = b->pc;
    for (u32 i = 0; i < b->insns; i++) {
        const Page *p = page_for(pc >> PAGE_SHIFT);
        *byte_for(p, pc) |= (u8)(1 << pc % 8);
        pc += quick.lens.at[b->lens + 2 * i];
    }
}

static u8 *find(u64 pc, u32 *number) {
    u64 page = pc >> PAGE_SHIFT;
    const Page *p = slot_of(quick.pages, quick.page_cap, page);
    if (!p->used || !(*byte_for(p, pc) >> pc % 8 & 1))
        return NULL;
    for (u32 n = p->first; n; n = *next_in_page(block_no(n), page)) {
        const Block *b = block_no(n);
        u8 *code = pc - b->pc < b->size ? code_in(b, pc) : NULL;
        if (code) {
            *number = n;
            return code;
        }
    }
    return NULL;
}

/* The next place from pc on, in its page, where a block begins. */
static u64 next_block(u64 pc) {
    u64 page = pc >> PAGE_SHIFT, nearest = ~(u64)0;
    const Page *p = slot_of(quick.pages, quick.page_cap, page);
    for (u32 n = p->used ? p->first : 0; n; n = *next_in_page(block_no(n), page)) {
        u64 start = block_no(n)->pc;
        if (start >= pc && start < nearest)
            nearest = start;
    }
    return nearest;
}

/* Where the tables have the target of a call, and of a return. */
static u32 call_index(u64 pc) {
    return (u32)(pc >> 4) % QUICK_TABLE;
}

static u32 return_index(u64 pc) {
    return (u32)pc % QUICK_TABLE;
}

static void set_table(Thread *t, u32 index, u64 pc, const u8 *code) {
    t->table_pc[index] = pc;
    t->table_code[index] = (u64)code;
}

static void clear_tables(u64 pc) {
    for (Thread *t = the.threads; t; t = t->next) {
        if (t->table_pc[call_index(pc)] == pc)
            t->table_pc[call_index(pc)] = QUICK_NO_TARGET(call_index(pc));
        if (t->table_pc[return_index(pc)] == pc)
            t->table_pc[return_index(pc)] = QUICK_NO_TARGET(return_index(pc));
        if (t->jump_pc[return_index(pc)] == -pc)
            t->jump_pc[return_index(pc)] = QUICK_NO_TARGET(return_index(pc));
    }
}

/* --------------------------------------------------------------------------------------------------------------- exits */

static void set_site(u8 *site, const u8 *target) {
    i32 distance = (i32)(target - (site + 4));
    __atomic_store_n((i32 *)arena_writable(site), distance, __ATOMIC_RELEASE);
}

static u8 *new_stub(u32 number) {
    if (quick.stubs_end - quick.stubs < EMIT_LEAVE_BYTES) {
        quick.stubs = arena_code(STUB_CHUNK, 16);
        quick.stubs_end = quick.stubs + STUB_CHUNK;
    }
    Emitter e;
    e.at = quick.stubs;
    emit_leave(&e, number);
    quick.stubs = e.at;
    return e.at - EMIT_LEAVE_BYTES;
}

static void unlink_exit(u32 number) {
    Exit *x = exit_no(number);
    if (!x->stub)
        x->stub = new_stub(number);
    set_site(x->site, x->stub);
}

/* To its target's code if there is some, else to its stub. */
static void link_exit(u32 number) {
    Exit *x = exit_no(number);
    u32 target;
    u8 *code = find(x->pc, &target);
    if (!code) {
        unlink_exit(number);
        return;
    }
    x->next = block_no(target)->incoming;
    block_no(target)->incoming = number;
    set_site(x->site, code);
}

static u32 new_exit(ExitKind kind, u64 pc, u8 *site) {
    Exit *x = extend(&quick.exits, sizeof(Exit));
    *x = (Exit){.pc = pc, .site = site, .kind = (u8)kind};
    return exit_count();
}

/* ------------------------------------------------------------------------------------------------------------- blocks */

static void note_insn(u64 guest, u64 host) {
    u8 *len = extend(&quick.lens, 2);
    len[0] = (u8)guest;
    len[1] = (u8)host;
}

/* How many bytes of code are there at pc? */
static size_t code_bytes(u64 pc) {
    u64 page = page_down(pc);
    int here = space_prot(page);
    if (here == PROT_UNMAPPED || !(here & PROT_EXEC))
        return 0;
    int next = space_prot(page + PAGE);
    return (next != PROT_UNMAPPED && (next & PROT_EXEC) ? 2 : 1) * PAGE - (pc - page);
}

/* An instruction of which the rest is not there. */
static bool is_cut_off(const u8 *text, size_t bytes) {
    u8 longer[24] = {0};
    Shape shape;
    memcpy(longer, text, bytes);
    return !shape_of(text, bytes, &shape) && shape_of(longer, sizeof(longer), &shape);
}

static EmitResult emit_at(Emitter *e, size_t bytes, u64 *next) {
    Shape shape;
    *next = e->pc + 1;
    if (bytes && bytes < 15 && is_cut_off((const u8 *)e->pc, bytes)) {
        *next = e->pc + bytes + 1; /* what is mapped behind it makes another instruction of it */
        return (EmitResult){.ends = true, .exits = true, .exit = {EXIT_UNREADABLE, e->pc, NULL}};
    }
    if (!bytes || !shape_of((const u8 *)e->pc, bytes, &shape))
        return (EmitResult){.ends = true, .exits = true, .exit = {bytes ? EXIT_UNDEFINED : EXIT_UNREADABLE, e->pc, NULL}};
    *next = e->pc + shape.length;
    return emit_insn(e, &shape);
}

/* One instruction; false: the block ends with it. */
static bool add_insn(Thread *t, Emitter *e, u64 pc, u64 end, u64 *next) {
    const u8 *before = e->at;
    e->pc = pc;
    EmitResult r = emit_at(e, end - pc, next);
    if (r.exits) {
        u32 number = new_exit(r.exit.kind, r.exit.pc, r.exit.site);
        if (!r.exit.site)
            emit_leave(e, number);
    }
    note_insn(*next - pc, (u64)(e->at - before));
    if (r.returns)
        set_table(t, return_index(*next), *next, e->at);
    return !r.ends;
}

/* The host takes writes to this page from now on as faults; see quick_written. */
static void guard_page(u64 number) {
    int prot = space_prot(number << PAGE_SHIFT);
    Page *p = page_for(number);
    if (p->guarded || prot == PROT_UNMAPPED || !(prot & PROT_WRITE))
        return;
    p->guarded = !sys_mprotect(number << PAGE_SHIFT, PAGE, PROT_READ);
    quick.guarded += p->guarded;
    quick.ever_guarded |= p->guarded;
}

/* Code at e->at for what follows from pc on, up to the block's end. */
static void add_insns(Thread *t, Emitter *e, Block *b) {
    u64 pc = b->pc, nearest = next_block(pc + 1), end = pc + code_bytes(pc);
    for (bool go_on = true; go_on; b->insns++) {
        u64 page = pc >> PAGE_SHIFT;
        if ((pc + INSN_BYTES) >> PAGE_SHIFT != page) /* before it is read */
            guard_page((pc + INSN_BYTES) >> PAGE_SHIFT);
        go_on = add_insn(t, e, pc, end, &pc);
        if (go_on && pc >> PAGE_SHIFT != page)
            nearest = next_block(pc), end = pc + code_bytes(pc);
        if (go_on && (b->insns + 1 == EMIT_INSNS || pc >= nearest)) {
            new_exit(EXIT_LINK, pc, emit_jump(e));
            b->goes_on = true;
            go_on = false;
        }
    }
    b->size = (u32)(pc - b->pc);
    for (u32 i = 0; i < e->calls; i++) {
        u8 *site = emit_call_rest(e, &e->call[i]);
        if (site)
            new_exit(EXIT_CALL, e->call[i].pc, site);
    }
}

/* The exits of a new block. Those that do not lead forward are loops, and may have optimised code from an earlier run. */
static void link_exits(Thread *t, u32 first, u32 last, u64 end) {
    for (u32 i = first; i <= last; i++)
        if (exit_no(i)->site)
            link_exit(i);
    for (u32 i = first; i <= last; i++)
        if (exit_no(i)->site && exit_no(i)->kind == EXIT_LINK && exit_no(i)->pc < end)
            tier_found(t, exit_no(i)->pc);
}

static u8 *make_block(Thread *t, u64 pc) {
    u32 first_exit = exit_count();
    Block b = {.pc = pc, .code = arena_room(BLOCK_BYTES, 16), .lens = (u32)quick.lens.len};
    Emitter e;
    e.at = b.code;
    e.calls = 0;
    guard_page(pc >> PAGE_SHIFT);
    add_insns(t, &e, &b);
    arena_keep(e.at);
    b.code_size = (u32)(e.at - b.code);
    *(Block *)extend(&quick.blocks, sizeof(Block)) = b;
    u32 number = block_count();
    add_to_page(number, first_page(&b));
    if (last_page(&b) != first_page(&b)) {
        guard_page(last_page(&b));
        add_to_page(number, last_page(&b));
    }
    mark_known(&b);
    link_exits(t, first_exit + 1, exit_count(), b.pc + b.size);
    the.stats.blocks++;
    the.stats.quick_insns += b.insns;
    return b.code;
}

static u8 *make_timed(Thread *t, u64 pc) {
    u64 start = the.opt.stats ? sys_now_us() : 0;
    u8 *code = make_block(t, pc);
    the.stats.quick_us += the.opt.stats ? sys_now_us() - start : 0;
    return code;
}

u8 *quick_find(Thread *t, u64 pc) {
    u32 number;
    u8 *code = find(pc, &number);
    return code ? code : make_timed(t, pc);
}

/* The block that begins at pc, or 0. */
static u32 block_at(u64 pc) {
    u64 page = pc >> PAGE_SHIFT;
    const Page *p = slot_of(quick.pages, quick.page_cap, page);
    u32 n = p->used ? p->first : 0;
    while (n && block_no(n)->pc != pc)
        n = *next_in_page(block_no(n), page);
    return n;
}

u8 *quick_find_function(Thread *t, u64 pc) {
    u32 n = block_at(pc);
    if (!n) {
        make_timed(t, pc);
        n = block_at(pc);
    }
    Block *b = block_no(n);
    if (!b->entry) {
        b->entry = true;
        tier_found(t, pc);
        b = block_no(n);
    }
    return b->enter ? b->enter : b->code;
}

/* Jumps to pc, of which some may lead to the middle of another block, go to `code` from now on. */
static void redirect(u64 pc, const u8 *code) {
    u64 page = pc >> PAGE_SHIFT;
    const Page *p = slot_of(quick.pages, quick.page_cap, page);
    for (u32 n = p->used ? p->first : 0; n; n = *next_in_page(block_no(n), page))
        for (u32 x = block_no(n)->incoming; x; x = exit_no(x)->next)
            if (exit_no(x)->pc == pc)
                set_site(exit_no(x)->site, code);
    clear_tables(pc);
}

void quick_override(Thread *t, u64 pc, u8 *enter) {
    if (!block_at(pc))
        make_timed(t, pc);
    block_no(block_at(pc))->enter = enter;
    redirect(pc, enter);
}

void quick_restore(u64 pc) {
    u32 n = block_at(pc);
    if (!n)
        return;
    block_no(n)->enter = NULL;
    redirect(pc, block_no(n)->code);
}

/* --------------------------------------------------------------------------------------------------------------- places */

static const Block *block_with(u64 host) {
    u32 low = 1, high = block_count() + 1;
    while (high - low > 1) {
        u32 mid = low + (high - low) / 2;
        if ((u64)block_no(mid)->code > host)
            high = mid;
        else
            low = mid;
    }
    const Block *b = low <= block_count() ? block_no(low) : NULL;
    return b && host - (u64)b->code < b->code_size ? b : NULL;
}

/* A sequence that needs a register begins with its spill; nothing else that is copied addresses gs. */
static void note_spill(QuickPlace *place, const u8 *code, u64 host) {
    place->spilled = -1;
    if (code[0] == 0x65 && code[2] == 0x89 && host > (u64)code) {
        place->spilled = code[3] >> 3 & 7;
        memcpy(&place->spill_off, code + 5, 4);
    }
}

static bool locate(u64 host, QuickPlace *place) {
    const Block *b = block_with(host);
    if (!b)
        return false;
    const u8 *lens = quick.lens.at + b->lens;
    u64 pc = b->pc, code = (u64)b->code;
    for (u32 i = 0; i < b->insns; i++) {
        if (host < code + lens[2 * i + 1]) {
            *place = (QuickPlace){.pc = pc, .next = pc + lens[2 * i], .boundary = host == code};
            note_spill(place, (u8 *)code, host);
            return true;
        }
        pc += lens[2 * i];
        code += lens[2 * i + 1];
    }
    *place = (QuickPlace){.pc = pc, .next = pc, .boundary = host == code && b->goes_on, .spilled = -1};
    return true;
}

bool quick_locate(u64 host, QuickPlace *place) {
    arena_lock();
    bool found = locate(host, place);
    arena_unlock();
    return found;
}

/* ------------------------------------------------------------------------------------------------- functions and loops */

/* The function that pc is in, as far as calls have shown: the nearest one before it. */
u64 quick_function(u64 pc) {
    enum { REACH_PAGES = 16 };
    u64 best = 0;
    for (u64 page = pc >> PAGE_SHIFT, first = page - REACH_PAGES; page > first && !best; page--) {
        const Page *p = slot_of(quick.pages, quick.page_cap, page);
        for (u32 n = p->used ? p->first : 0; n; n = *next_in_page(block_no(n), page)) {
            const Block *b = block_no(n);
            if (b->entry && b->pc <= pc && b->pc > best)
                best = b->pc;
        }
    }
    return best;
}

/* Of the loops whose heads are in the same page: a loop is a jump back over pc. */
bool quick_loop(u64 pc, u64 *start, u64 *end) {
    u64 page = pc >> PAGE_SHIFT;
    const Page *p = slot_of(quick.pages, quick.page_cap, page);
    *start = 0;
    for (u32 n = p->used ? p->first : 0; n; n = *next_in_page(block_no(n), page))
        for (u32 x = block_no(n)->incoming; x; x = exit_no(x)->next) {
            QuickPlace from;
            u64 head = exit_no(x)->pc;
            bool candidate = exit_no(x)->kind == EXIT_LINK && head <= pc && head > *start;
            if (candidate && locate((u64)exit_no(x)->site, &from) && from.pc >= pc)
                *start = head, *end = from.next;
        }
    return *start;
}

/* ---------------------------------------------------------------------------------------------------------- forgetting */

/* No thread comes here any more, but for those that are inside. */
static void kill_block(u32 number) {
    Block *b = block_no(number);
    u64 pc = b->pc;
    for (u32 i = 0; i < b->insns; i++) {
        clear_tables(pc);
        pc += quick.lens.at[b->lens + 2 * i];
    }
    for (u32 x = b->incoming, next; x; x = next) {
        next = exit_no(x)->next;
        unlink_exit(x);
    }
    remove_from_page(number, first_page(b));
    if (last_page(b) != first_page(b))
        remove_from_page(number, last_page(b));
    b->incoming = 0;
    b->dead = true;
}

static void forget_page(Page *p, u64 start, u64 end) {
    for (u32 n = p->first, next; n; n = next) {
        next = *next_in_page(block_no(n), p->number);
        if (block_no(n)->pc < end && block_no(n)->pc + block_no(n)->size > start)
            kill_block(n);
    }
    if (start > p->number << PAGE_SHIFT || end < (p->number + 1) << PAGE_SHIFT)
        return;
    quick.guarded -= p->guarded;
    p->guarded = false;
}

void quick_forget(u64 start, u64 end) {
    u64 first = start >> PAGE_SHIFT, last = (end - 1) >> PAGE_SHIFT;
    if (!quick.blocks.len)
        return;
    arena_lock();
    for (u64 i = 0; i < quick.page_cap; i++) {
        Page *p = &quick.pages[i];
        if (p->used && p->number >= first && p->number <= last)
            forget_page(p, start, end);
    }
    arena_unlock();
}

/* -------------------------------------------------------------------------------------------------------- guarded pages */

static void allow_writes(Page *p) {
    u64 start = p->number << PAGE_SHIFT;
    forget_page(p, start, start + PAGE);
    sys_mprotect(start, PAGE, PROT_READ | PROT_WRITE);
}

/* Another thread may have been first: then the page is no longer guarded, and the guest may write to it. */
bool quick_written(u64 addr) {
    int prot = space_prot(addr);
    if (!quick.ever_guarded || prot == PROT_UNMAPPED || !(prot & PROT_WRITE))
        return false;
    arena_lock();
    Page *p = slot_of(quick.pages, quick.page_cap, addr >> PAGE_SHIFT);
    if (p->used && p->guarded)
        allow_writes(p);
    arena_unlock();
    return true;
}

bool quick_allow_writes_to(u64 start, u64 end) {
    bool any = false;
    if (!quick.guarded || start >= end)
        return false;
    arena_lock();
    for (u64 number = start >> PAGE_SHIFT; number <= (end - 1) >> PAGE_SHIFT; number++) {
        Page *p = slot_of(quick.pages, quick.page_cap, number);
        if (!p->used || !p->guarded)
            continue;
        allow_writes(p);
        any = true;
    }
    arena_unlock();
    return any;
}

bool quick_allow_writes(void) {
    if (!quick.guarded)
        return false;
    arena_lock();
    for (u64 i = 0; i < quick.page_cap; i++)
        if (quick.pages[i].used && quick.pages[i].guarded)
            allow_writes(&quick.pages[i]);
    arena_unlock();
    return true;
}

/* ------------------------------------------------------------------------------------------------------ to keep for later */

u64 quick_count(void) {
    return block_count();
}

void quick_drop(bool (*keeps)(u64 pc)) {
    for (u32 n = 1; n <= block_count(); n++) {
        const Block *b = block_no(n);
        if (!b->dead && (!keeps(b->pc) || !keeps(b->pc + b->size - 1)))
            kill_block(n);
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
                *(Found *)extend(&list, sizeof(Found)) = (Found){table, i, pc, table ? t->jump_code[i] : t->table_code[i]};
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
    ArenaParts arena = arena_export();
    Array found = list_found(t);
    *p = (QuickParts){
        {arena.code, arena.data, quick.blocks.at, quick.exits.at, quick.lens.at, quick.bitmaps.at, (u8 *)quick.pages, found.at},
        {arena.code_size, arena.data_size, quick.blocks.len, quick.exits.len, quick.lens.len, quick.bitmaps.len,
         quick.page_cap * sizeof(Page), found.len},
    };
}

/* In memory that sys_pages_free can free, too. */
static Array array_of(u8 *at, u64 size) {
    return (Array){at, size, page_up(size)};
}

void quick_import(Thread *t, const QuickParts *p) {
    arena_import(&(ArenaParts){p->at[0], p->at[1], p->size[0], p->size[1]});
    quick.blocks = array_of(p->at[2], p->size[2]);
    quick.exits = array_of(p->at[3], p->size[3]);
    quick.lens = array_of(p->at[4], p->size[4]);
    quick.bitmaps = array_of(p->at[5], p->size[5]);
    sys_pages_free(quick.pages, quick.page_cap * sizeof(Page));
    quick.pages = (Page *)p->at[6];
    quick.page_cap = p->size[6] / sizeof(Page);
    quick.page_count = quick.bitmaps.len / (PAGE / 8);
    set_found(t, (const Found *)p->at[7], p->size[7] / sizeof(Found));
}

/* ------------------------------------------------------------------------------------------------------- called by code */

/* Signals have to see the state where the other tier has it. */
static void go_on(Thread *t) {
    if (t->pending_signals || t->cpu.trap) {
        frame_set_flags(&t->cpu, t->flags);
        if (t->cpu.trap)
            signal_trap(t);
        else
            signal_deliver(t);
        t->flags = frame_flags(&t->cpu);
    }
    arena_lock();
    t->target = (u64)quick_find(t, t->cpu.pc);
    arena_unlock();
}

static void system_call(Thread *t) {
    t->cpu.gp[LATHE_RCX] = t->cpu.pc;
    t->cpu.gp[LATHE_R11] = t->flags;
    frame_set_flags(&t->cpu, t->flags);
    guest_syscall(&t->cpu);
    t->flags = frame_flags(&t->cpu);
}

static void follow(Thread *t, u32 number) {
    arena_lock();
    if (exit_no(number)->kind == EXIT_CALL)
        quick_find_function(t, t->cpu.pc);
    else
        quick_find(t, t->cpu.pc);
    link_exit(number);
    arena_unlock();
}

static void interrupt(Thread *t) {
    u8 text[2] = {0};
    guest_read(t->cpu.pc, text, sizeof(text));
    t->cpu.pc += sizeof(text);
    t->cpu.trap = LATHE_TRAP_INTERRUPT;
    t->cpu.trap_info = text[1];
}

__attribute__((visibility("hidden"))) void quick_exit(Thread *t) {
    u32 number = (u32)t->exit;
    arena_lock();
    ExitKind kind = exit_no(number)->kind;
    t->cpu.pc = exit_no(number)->pc;
    arena_unlock();
    t->flags &= ~(u64)FLAG_TRAP;
    switch (kind) {
    case EXIT_LINK:
    case EXIT_CALL: follow(t, number); break;
    case EXIT_SYSCALL: system_call(t); break;
    case EXIT_CPUID: guest_cpuid(&t->cpu); break;
    case EXIT_INTERRUPT: interrupt(t); break;
    case EXIT_UNSUPPORTED: t->cpu.trap = LATHE_TRAP_UNSUPPORTED; break;
    case EXIT_UNDEFINED: t->cpu.trap = LATHE_TRAP_UNDEFINED; break;
    case EXIT_UNREADABLE: t->cpu.trap = LATHE_TRAP_UNREADABLE; break;
    }
    go_on(t);
}

/* A host return has left the address of its code on the stack, and the guest returns by the same place again: this is the way of
 * programs whose stack is a list of what to do. */
static void undo_return(Thread *t) {
    QuickPlace place;
    if (arena_holds(t->cpu.pc) && quick_locate(t->cpu.pc, &place) && place.boundary)
        t->cpu.pc = place.pc;
}

static void look_up(Thread *t, u64 pc, u32 index) {
    u64 guest = t->cpu.pc;
    t->flags &= ~(u64)FLAG_TRAP;
    the.stats.lookups_missed++;
    go_on(t);
    if (guest != t->cpu.pc)
        return;
    arena_lock(); /* meanwhile another thread may have changed the code */
    t->target = (u64)quick_find(t, guest);
    set_table(t, index, pc, (u8 *)t->target);
    arena_unlock();
}

__attribute__((visibility("hidden"))) void quick_lookup(Thread *t) {
    u64 pc = t->cpu.pc;
    undo_return(t);
    look_up(t, pc, return_index(pc));
}

__attribute__((visibility("hidden"))) void quick_lookup_call(Thread *t) {
    arena_lock();
    quick_find_function(t, t->cpu.pc);
    arena_unlock();
    look_up(t, t->cpu.pc, call_index(t->cpu.pc));
}

/* On its way from optimised code, to t->target. */
__attribute__((visibility("hidden"))) void quick_arrive(Thread *t) {
    QuickPlace place;
    CHECK(quick_locate(t->target, &place) && place.boundary, "optimised code goes on at a guest instruction");
    t->cpu.pc = place.pc;
    t->flags &= ~(u64)FLAG_TRAP;
    go_on(t);
}

/* Optimised code has a trap, and the flags in the state. */
__attribute__((visibility("hidden"))) void quick_trapped(Thread *t) {
    t->flags = frame_flags(&t->cpu);
    go_on(t);
}

__attribute__((visibility("hidden"))) void quick_lookup_jump(Thread *t) {
    t->flags &= ~(u64)FLAG_TRAP;
    t->cpu.pc -= t->spill_base;
    the.stats.lookups_missed++;
    u64 pc = t->cpu.pc;
    go_on(t);
    if (pc != t->cpu.pc)
        return;
    arena_lock();
    t->target = (u64)quick_find(t, pc);
    t->jump_pc[return_index(pc)] = -pc;
    t->jump_code[return_index(pc)] = t->target;
    arena_unlock();
}

/* From a host signal handler, with the guest's state in the Thread. */
__attribute__((visibility("hidden"))) void quick_redirect(Thread *t) {
    if (t->sampled)
        tier_sample(t);
    go_on(t);
}

void quick_run(Thread *t) {
    go_on(t);
    quick_enter();
}

void (*quick_near(void (*place)(void)))(void) {
    return (void (*)(void))(the.quick_text + ((u64)place - (u64)quick_start));
}

u64 quick_original(u64 place) {
    u64 off = place - (u64)the.quick_text;
    return off < (u64)(quick_end - quick_start) ? (u64)quick_start + off : place;
}

void quick_connect(Thread *t) {
    const void *const all[] = {(void *)quick_lookup, (void *)quick_lookup_call, (void *)quick_lookup_jump, (void *)quick_arrive,
                               (void *)quick_exit, (void *)cross_back, (void *)quick_interrupted};
    memcpy(t->c, all, sizeof(all));
}

bool quick_init(void) {
    u64 size = (u64)(quick_end - quick_start);
    the.quick_text = arena_code(size, 64);
    memcpy(arena_writable(the.quick_text), quick_start, size);
    quick.page_cap = FIRST_PAGES;
    quick.pages = sys_pages(FIRST_PAGES * sizeof(Page));
    return quick.pages;
}
