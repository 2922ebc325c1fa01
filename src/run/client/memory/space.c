/* space.c: the table of the guest's memory, and what the rest of the client asks of it. docs/address-space.md has a picture of the address space.
 *
 * The table `guest` says which addresses are the guest's, and which protection the guest asked for. Memory that is not in it does not belong to the
 * guest, even if the host has something mapped there: it is the client's memory, or a reservation. Guest code is never run where it lies, so the host
 * never maps it with PROT_EXEC; pages that are executable for the guest are readable for the host.
 *
 * The files around this one change the table: block.c makes it, mapping.c and brk.c make the guest's system calls, and modules.c keeps the list of
 * mapped programs and libraries. They are placed in the window, so that translated code in the arena behind it reaches them with 32-bit
 * displacements; every other mapping is where the kernel puts it.
 *
 * One lock is held over a change of the table and the system call behind it. It is not held during calls of watch.h, whose functions ask for memory
 * and modules themselves. */
#include "run/client/memory/space_table.h"

#include "run/client/memory/modules.h"
#include "run/client/memory/own.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/watch.h"

/* The tables end where the window begins, so their address needs no variable. */
Space *space_table(void) {
    CHECK(the.memory.window, "space_init comes before everything else");
    return (Space *)(the.memory.window - TABLES_SIZE);
}

bool space_is_full(void) {
    return space_table()->guest.count > GUEST_RANGES - SPARE_RANGES;
}

i64 space_vacate(u64 start, u64 end) {
    return sys_mmap(start, end - start, PROT_NONE, NO_ACCESS_FLAGS | MAP_FIXED, -1, 0);
}

i64 space_release(u64 start, u64 end) {
    u64 from = start > the.memory.window ? start : the.memory.window, to = end < the.code_base ? end : the.code_base;
    if (from >= to)
        return sys_munmap(start, end - start);
    i64 result = space_vacate(from, to);
    if (!sys_failed(result))
        result = start < from ? sys_munmap(start, from - start) : 0;
    if (!sys_failed(result))
        result = to < end ? sys_munmap(to, end - to) : 0;
    return result;
}

void space_reserve_again(u64 start, u64 end) {
    u64 from = start > the.memory.window ? start : the.memory.window, to = end < the.code_base ? end : the.code_base;
    if (from < to)
        space_vacate(from, to);
}

u64 space_find_gap(u64 size, u64 align) {
    const Ranges *t = &space_table()->guest;
    u64 at = (the.memory.window + PAGE + align - 1) & -align;
    for (u32 i = ranges_find(t, the.memory.window); i < t->count && t->at[i].start < the.code_base; i++) {
        if (at + size + PAGE <= t->at[i].start)
            return at;
        at = (t->at[i].end + PAGE + align - 1) & -align;
    }
    return at + size + PAGE <= the.code_base ? at : 0;
}

bool space_window_is_free(u64 start, u64 size) {
    return start >= the.memory.window && start < the.code_base && size <= the.code_base - start &&
           !ranges_touch(&space_table()->guest, start, start + size);
}

/* --------------------------------------------------------------------------------------- for the rest of the client */

/* Reserves memory where the kernel puts it or, if that place is not aligned, at the next aligned place below that is free. Never maps more than
 * `size` bytes, not even for a moment, because there may be a limit. */
static i64 reserve_far(u64 size, u64 align) {
    i64 at = sys_mmap(0, size, PROT_NONE, NO_ACCESS_FLAGS, -1, 0);
    if (sys_failed(at) || !((u64)at & (align - 1)))
        return at;
    sys_munmap((u64)at, size);
    i64 result = -ENOMEM;
    for (u64 place = (u64)at & -align; place; place -= align) {
        result = sys_mmap(place, size, PROT_NONE, NO_ACCESS_FLAGS | MAP_FIXED_NOREPLACE, -1, 0);
        if (result != -EEXIST)
            break;
    }
    return result;
}

i64 space_reserve(u64 want, u64 size, u64 align) {
    Space *s = space_table();
    lock(&s->lock);
    u64 gap = want                     ? (space_window_is_free(want, size) ? want : 0)
              : size < MODULE_SIZE_MAX ? space_find_gap(size, align)
                                       : 0;
    i64 at = gap    ? (i64)gap
             : want ? sys_mmap(want, size, PROT_NONE, NO_ACCESS_FLAGS | MAP_FIXED_NOREPLACE, -1, 0)
                    : reserve_far(size, align);
    if (!sys_failed(at))
        ranges_set(&s->guest, (u64)at, (u64)at + size, PROT_NONE);
    unlock(&s->lock);
    return at;
}

void space_own(u64 start, u64 size) {
    u64 end = start + page_up(size);
    lock(&space_table()->lock);
    ranges_set(&space_table()->own, start, end, 0);
    bool block = start >= the.memory.block_start && end <= the.memory.block_end;
    if (!block && (!the.memory.own_end || start < the.memory.own_start))
        the.memory.own_start = start;
    if (!block && end > the.memory.own_end)
        the.memory.own_end = end;
    unlock(&space_table()->lock);
}

bool space_is_free(u64 start, u64 size) {
    lock(&space_table()->lock);
    bool found = space_window_is_free(start, size);
    unlock(&space_table()->lock);
    return found;
}

void space_make_room(u64 start, u64 size) {
    if (!the.map || start >= LOW_MAP_END || start + size <= LOW_MAP || !quick_give_up_map())
        return;
    lock(&space_table()->lock);
    ranges_clear(&space_table()->own, LOW_MAP, LOW_MAP_END);
    sys_munmap(LOW_MAP, LOW_MAP_END - LOW_MAP);
    unlock(&space_table()->lock);
}

bool space_is_own(u64 start, u64 size) {
    lock(&space_table()->lock);
    bool own = ranges_touch(&space_table()->own, start, start + size);
    unlock(&space_table()->lock);
    return own;
}

bool space_has_hole(u64 start, u64 end) {
    Space *s = space_table();
    lock(&s->lock);
    bool hole = !ranges_cover(&s->guest, start, end) &&
                (ranges_touch(&s->own, start, end) || (start < the.code_base && end > the.memory.window) ||
                 (start < the.memory.brk_end && end > the.memory.brk_now) ||
                 (start < the.memory.stack_start && end > the.memory.stack_lowest));
    unlock(&s->lock);
    return hole;
}

int space_prot(u64 addr) {
    lock(&space_table()->lock);
    const Range *r = ranges_at(&space_table()->guest, addr);
    int prot = r ? (int)space_prot_of(r->value) : PROT_UNMAPPED;
    unlock(&space_table()->lock);
    return prot;
}

bool space_let_write(u64 page, bool host_too) {
    lock(&space_table()->lock);
    const Range *r = ranges_at(&space_table()->guest, page);
    bool done = r && (r->value & PROT_WRITE) &&
                !sys_mprotect(page, PAGE, host_too ? space_host_prot(space_prot_of(r->value)) : PROT_READ);
    unlock(&space_table()->lock);
    return done;
}

bool space_next(u64 addr, u64 *start, u64 *end, u32 *prot) {
    const Ranges *t = &space_table()->guest;
    lock(&space_table()->lock);
    u32 i = ranges_find(t, addr);
    bool found = i < t->count;
    if (found)
        *start = t->at[i].start, *end = t->at[i].end, *prot = space_prot_of(t->at[i].value);
    unlock(&space_table()->lock);
    return found;
}

LimitsUse space_use(void) {
    lock(&space_table()->lock);
    LimitsUse use = limits_use(&space_table()->guest);
    unlock(&space_table()->lock);
    return use;
}

void space_note(u64 start, u64 size, int prot) {
    u64 end = start + page_up(size);
    Space *s = space_table();
    lock(&s->lock);
    bool had_code = ranges_any(&s->guest, start, end, PROT_EXEC);
    modules_forget(start, end, NULL);
    if (prot == PROT_UNMAPPED) {
        space_reserve_again(start, end);
        ranges_clear(&s->guest, start, end);
    } else
        ranges_set(&s->guest, start, end, (u32)prot);
    unlock(&s->lock);
    if (had_code)
        code_forget(start, end);
}

/* Takes the locks in the same order as own.c. */
void space_lock(void) {
    own_lock();
    lock(&space_table()->lock);
}

void space_unlock(void) {
    unlock(&space_table()->lock);
    own_unlock();
}

size_t space_read(u64 addr, void *buf, size_t size, bool *writable) {
    size_t n = peek(addr, buf, size);
    lock(&space_table()->lock);
    *writable = n && ranges_any(&space_table()->guest, addr, addr + n, PROT_WRITE);
    unlock(&space_table()->lock);
    return n;
}
