/* forget.c: guest code that changes. Blocks of memory that is unmapped or changed are forgotten. A page with blocks to which the guest may write is
 * guarded: the host may not write to it, so a write faults, its blocks are forgotten first, and then the write is made again. */
#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/quick.h"
#include "run/client/memory/space.h"
#include "run/client/memory/watch.h"

static u64 guarded_pages;
static bool ever_guarded;
static u64 lowest = ~(u64)0, behind_highest; /* numbers of pages that were ever guarded are between these */

static void note_guarded(u64 number) {
    ever_guarded = true;
    lowest = number < lowest ? number : lowest;
    behind_highest = number < behind_highest ? behind_highest : number + 1;
}

void page_guard_anew(u64 number) {
    Page *p = page_for(number);
    guarded_pages -= p->guarded;
    p->guarded = space_let_write(number << PAGE_SHIFT, false);
    guarded_pages += p->guarded;
    if (p->guarded)
        note_guarded(number);
}

void page_guard(u64 number) {
    Page *p = page_for(number);
    bool viewed = p->views_guarded;
    p->views_guarded = true;
    if (!p->guarded)
        page_guard_anew(number);
    if (!viewed)
        views_guard(number);
}

/* Forgets the blocks of a page that touch [start, end), by block_kill or block_suspend. If that is the whole page, it is guarded no longer. */
static void forget(Page *p, u64 start, u64 end, void (*end_block)(u32 number)) {
    for (u32 n = p->first, next; n; n = next) {
        next = page_next(n, p->number);
        if (block_no(n)->pc < end && block_no(n)->pc + block_no(n)->size > start)
            end_block(n);
    }
    if (start > p->number << PAGE_SHIFT || end < (p->number + 1) << PAGE_SHIFT)
        return;
    p->views_guarded = false;
    if (!p->guarded)
        return;
    space_let_write(p->number << PAGE_SHIFT, true);
    p->guarded = false;
    guarded_pages--;
}

/* Called before a write to the page, which may leave blocks as they are: these can come back (suspend.c). */
void page_forget(u64 number) {
    Page *p = page_known(number);
    if (p)
        forget(p, number << PAGE_SHIFT, (number + 1) << PAGE_SHIFT, block_suspend);
}

static bool allow_writes(Page *p) {
    if (!p->guarded)
        return false;
    page_forget(p->number);
    views_forget(p->number);
    return true;
}

/* Calls `what` for each known page that [start, end) touches, and returns how often it has returned true. If the range has more pages than the table
 * of pages has entries, goes through the table instead. */
static u64 each_page(u64 start, u64 end, bool (*what)(Page *, u64, u64)) {
    u64 first = start >> PAGE_SHIFT, last = (end - 1) >> PAGE_SHIFT, count = 0;
    if (start >= end)
        return 0;
    if (last - first < quick_all.page_cap) {
        for (u64 number = first; number <= last; number++) {
            Page *p = page_known(number);
            count += p && what(p, start, end);
        }
        return count;
    }
    for (u64 i = 0; i < quick_all.page_cap; i++) {
        Page *p = &quick_all.pages[i];
        count += p->used && p->number >= first && p->number <= last && what(p, start, end);
    }
    return count;
}

static bool forget_range(Page *p, u64 start, u64 end) {
    forget(p, start, end, block_kill);
    return true;
}

static bool allow_in_range(Page *p, u64 start, u64 end) {
    (void)start, (void)end;
    return allow_writes(p);
}

void pages_release(void) {
    each_page(0, ~(u64)0, allow_in_range);
}

void quick_forget(u64 start, u64 end) {
    if (!block_count())
        return;
    arena_lock();
    each_page(start, end, forget_range);
    arena_unlock();
}

/* If the page is not guarded (any more), because another thread was first or the page has moved, but the guest may write to it, it is made writable, too. */
bool quick_written(u64 addr) {
    if (!ever_guarded)
        return false;
    arena_lock();
    Page *p = page_known(addr >> PAGE_SHIFT);
    bool ours = (p && allow_writes(p)) || space_let_write(page_down(addr), true);
    arena_unlock();
    return ours;
}

/* Called for the arguments of each system call. Most are far from all pages that were ever guarded, and need no lock. */
bool quick_allow_writes_to(u64 start, u64 end) {
    if (!guarded_pages || end <= lowest << PAGE_SHIFT || start >= behind_highest << PAGE_SHIFT)
        return false;
    arena_lock();
    u64 allowed = each_page(start, end, allow_in_range);
    arena_unlock();
    return allowed;
}

bool quick_allow_writes(void) {
    return quick_allow_writes_to(0, ~(u64)0);
}
