/* own.c: see own.h. A table says which parts of the areas are in use. The table lies in the first area, behind a page
 * without access: a system call of the guest that is given an address of the client gets the address of this page
 * instead (reach.c). */
#include "run/client/memory/own.h"

#include "run/client/memory/limits.h"
#include "run/client/memory/ranges.h"
#include "run/client/memory/space.h"

/* This is above all addresses that the kernel chooses for position-independent programs. Sanitizers leave it free for
 * programs, as they do with the places of windows in image.c. */
#define PLACE ((u64)0x5656 << 32)
#define SIZE ((u64)128 << 30)         /* room for the stacks of 250 threads with --tier=opt */
#define SIZE_SCALED ((u64)1280 << 20) /* if memory is limited: both views of code, and the first thread's stack */
#define SIZE_TABLES ((u64)48 << 20)

enum { AREAS_MAX = 64, USED_MAX = 1 << 14, SPARE = 8 /* entries kept for changes that must not fail */ };

typedef struct Area {
    u64 start, end;
} Area;

typedef struct Own {
    u32 lock;
    u32 area_count;
    Area areas[AREAS_MAX];
    Ranges used; /* the values are all 0 */
    Range used_ranges[USED_MAX];
} Own;

static Own *own;

/* Reserves addresses; with MAP_FIXED, a reservation replaces what is mapped there. */
static i64 reserve(u64 at, u64 size, u32 fixed) {
    return sys_mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
}

/* Reserves an area at that address if it is free, otherwise anywhere. */
static bool find_area(u64 at, u64 size, Area *area) {
    i64 start = at ? reserve(at, size, MAP_FIXED_NOREPLACE) : -ENOMEM;
    if (sys_failed(start))
        start = reserve(0, size, 0);
    *area = (Area){(u64)start, (u64)start + size};
    return !sys_failed(start);
}

/* The first and the last page of an area stay without access, because a mapping of the guest may lie right beside it. */
static void add_area(Area area) {
    own->areas[own->area_count++] = area;
    ranges_set(&own->used, area.start, area.start + PAGE, 0);
    ranges_set(&own->used, area.end - PAGE, area.end, 0);
    space_own(area.start, area.end - area.start);
}

/* The lowest free address of an area with room for `size` bytes, or 0 if there is none. */
static u64 find_room(const Area *area, u64 size) {
    u64 at = area->start;
    for (u32 i = ranges_find(&own->used, at); i < own->used.count && own->used.at[i].start < area->end; i++) {
        if (at + size <= own->used.at[i].start)
            return at;
        at = own->used.at[i].end;
    }
    return at + size <= area->end ? at : 0;
}

static bool reserve_more(u64 size) {
    Area area;
    u64 usual = the.memory.limited ? SIZE_TABLES : SIZE, least = size + 2 * PAGE;
    if (own->area_count == AREAS_MAX || !find_area(0, least > usual ? least : usual, &area))
        return false;
    add_area(area);
    return true;
}

/* Returns 0 if there is no room. */
static u64 find_place(u64 size) {
    if (!size || own->used.count > USED_MAX - SPARE)
        return 0;
    u64 at = 0;
    for (u32 i = 0; !at && (i < own->area_count || reserve_more(size)); i++)
        at = find_room(&own->areas[i], size);
    return at;
}

i64 own_map(u64 size, u32 prot, u32 flags, int fd, u64 off) {
    size = page_up(size);
    lock(&own->lock);
    u64 at = find_place(size);
    i64 result = at ? sys_mmap(at, size, prot, flags | MAP_FIXED, fd, off) : -ENOMEM;
    if (!sys_failed(result))
        ranges_set(&own->used, at, at + size, 0);
    else if (at)
        reserve(at, size, MAP_FIXED);
    unlock(&own->lock);
    return result;
}

/* If the kernel has no memory for its own tables, the reservation fails, and the range stays marked as in use. */
void own_unmap(u64 start, u64 size) {
    size = page_up(size);
    lock(&own->lock);
    if (!sys_failed(reserve(start, size, MAP_FIXED)))
        ranges_clear(&own->used, start, start + size);
    unlock(&own->lock);
}

void own_lock(void) {
    lock(&own->lock);
}

void own_unlock(void) {
    unlock(&own->lock);
}

bool own_init(void) {
    Area area;
    u64 table = page_up(sizeof(Own)), least = limits_scaled(SIZE_SCALED) + SIZE_TABLES;
    if ((the.memory.limited || !find_area(PLACE, SIZE, &area)) && !find_area(PLACE, least, &area))
        return false;
    if (sys_mprotect(area.start + PAGE, table, PROT_READ | PROT_WRITE))
        return false;
    own = (Own *)(area.start + PAGE);
    own->used = (Ranges){own->used_ranges, 0, USED_MAX};
    add_area(area);
    ranges_set(&own->used, area.start + PAGE, area.start + PAGE + table, 0);
    the.memory.nowhere = area.start;
    return true;
}

void *sys_pages(size_t size) {
    i64 pages = own_map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return sys_failed(pages) ? NULL : (void *)pages;
}

void sys_pages_free(void *pages, size_t size) {
    own_unmap((u64)pages, size);
}
