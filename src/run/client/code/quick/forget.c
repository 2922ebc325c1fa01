/* forget.c: guest code that changes. Blocks of memory that is unmapped or changed go away. Where the guest may write to a page with
 * blocks, the host may not: such a page is guarded, and a write to it makes its blocks go away first. */
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

/* In front of a write. */
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

/* `what` for each page with blocks that [start, end) touches: by number, or, if those are more than there are pages, by page. How
 * often was it true? */
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

/* Another thread may have been first, or the page has moved since: then it is no longer guarded, and the guest may write to it. */
bool quick_written(u64 addr) {
    if (!ever_guarded)
        return false;
    arena_lock();
    Page *p = page_known(addr >> PAGE_SHIFT);
    bool ours = (p && allow_writes(p)) || space_let_write(page_down(addr), true);
    arena_unlock();
    return ours;
}

/* Most system calls come with addresses that are far from all code that can be written to: these take no lock. */
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
