/* locate.c: which guest instruction a host address in quick code belongs to; and which functions and loops there are, as far as calls and jumps of
 * quick code show them. */
#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"
#include "run/client/code/quick/tally.h"

/* Where the block's host code begins, with the entry for jumps by the map in front of its first instruction. */
static u64 first_code(const QuickBlock *b) {
    return (u64)b->code - (map_covers(b->pc) ? emit_entry_bytes : 0);
}

/* Blocks are made, and therefore numbered, in the order of their host addresses. */
static const QuickBlock *block_with(u64 host) {
    u32 low = 1, high = block_count() + 1;
    while (high - low > 1) {
        u32 mid = low + (high - low) / 2;
        if (first_code(block_no(mid)) > host)
            high = mid;
        else
            low = mid;
    }
    const QuickBlock *b = low <= block_count() ? block_no(low) : NULL;
    return b && host >= first_code(b) && host < (u64)b->code + b->code_size ? b : NULL;
}

/* Sets in *place what a tool has counted ahead at instruction number i: for this instruction and those behind it, up to where its counts begin anew. */
static void add_ahead(const QuickBlock *b, u32 i, QuickPlace *place) {
    const InsnLens *lens = block_lens(b);
    u64 first = b->lens / sizeof(InsnLens);
    TallySum here = {0};
    if (i < b->insns && !lens[i].run && lens[i].guest)
        tally_add(first + i, &here);
    for (; i < b->insns && !lens[i].run; i++)
        if (lens[i].guest)
            tally_add(first + i, &place->ahead);
    memcpy(place->here, here.amount, sizeof(place->here));
    place->here_rows = here.row_count;
}

/* True if a tool does something before instruction number i. */
static bool has_hooks(const InsnLens *lens, u32 i) {
    return i && !lens[i - 1].guest && !lens[i - 1].behind;
}

static void locate_in(const QuickBlock *b, u64 host, QuickPlace *place) {
    const InsnLens *lens = block_lens(b);
    u64 pc = b->pc, code = (u64)b->code;
    if (host < code) {
        *place = (QuickPlace){.pc = pc, .next = pc, .spilled = {-1, -1}, .based = -1};
        return;
    }
    for (u32 i = 0; i < b->insns; i++) {
        if (host < code + lens[i].host) {
            *place = (QuickPlace){.pc = pc,
                                  .next = pc + lens_guest(lens[i]),
                                  .of_tool = !lens[i].guest,
                                  .boundary = host == code && !has_hooks(lens, i) && !lens[i].behind,
                                  .inside = sites_have_blocks() && !lens[i].head,
                                  .begun = host == code && lens[i].guest && has_hooks(lens, i),
                                  .amid = !lens[i].head,
                                  .spilled = {-1, -1},
                                  .based = -1};
            add_ahead(b, i, place);
            if (lens[i].guest || host == code)
                emit_note_spills(place, (u8 *)code, host);
            return;
        }
        pc += lens_guest(lens[i]);
        code += lens[i].host;
    }
    *place = (QuickPlace){.pc = pc,
                          .next = pc,
                          .boundary = host == code && b->goes_on,
                          .inside = b->ends_inside,
                          .spilled = {-1, -1},
                          .based = -1};
}

static bool locate(u64 host, QuickPlace *place) {
    const QuickBlock *b = block_with(host);
    if (!b)
        return false;
    locate_in(b, host, place);
    place->dead = b->dead;
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
        for (u32 n = page_first(page); n; n = page_next(n, page)) {
            const QuickBlock *b = block_no(n);
            if (b->entry && b->pc <= pc && b->pc > best)
                best = b->pc;
        }
    }
    return best;
}

/* True if loop `a` comes before loop `b` in the list: the loop that begins last is the innermost; of several jumps back to one place, the nearest
 * makes the loop. */
static bool is_inside(const QuickLoop *a, const QuickLoop *b) {
    return a->start != b->start ? a->start > b->start : a->end < b->end;
}

/* Inserts a loop at its place in the list. If the list is full, the last one is dropped. */
static u32 add_loop(QuickLoop loops[QUICK_LOOPS], u32 count, QuickLoop loop) {
    u32 at = count;
    while (at && is_inside(&loop, &loops[at - 1]))
        at--;
    if (at == QUICK_LOOPS)
        return count;
    u32 kept = count < QUICK_LOOPS ? count : QUICK_LOOPS - 1;
    memmove(&loops[at + 1], &loops[at], (kept - at) * sizeof(QuickLoop));
    loops[at] = loop;
    return kept + 1;
}

/* A jump that a block ends with where it goes on in another one is no instruction, so it makes no loop with the place it leads to. */
static bool is_jump(const QuickPlace *from) {
    return from->next > from->pc;
}

/* Adds the loops around pc whose heads are in this page: jumps to a block there that come from behind pc. */
static u32 add_loops(QuickLoop loops[QUICK_LOOPS], u32 count, u64 pc, u64 page) {
    for (u32 n = page_first(page); n; n = page_next(n, page))
        for (u32 x = block_no(n)->incoming; x; x = exit_no(x)->next) {
            QuickPlace from;
            u64 head = exit_no(x)->pc;
            bool candidate = exit_no(x)->kind == EXIT_LINK && head <= pc && head >> PAGE_SHIFT == page;
            if (candidate && locate((u64)exit_no(x)->site, &from) && is_jump(&from) && from.pc >= pc)
                count = add_loop(loops, count, (QuickLoop){head, from.next});
        }
    return count;
}

u32 quick_loops(u64 pc, QuickLoop loops[QUICK_LOOPS]) {
    u64 page = pc >> PAGE_SHIFT;
    return add_loops(loops, add_loops(loops, 0, pc, page), pc, page - 1);
}
