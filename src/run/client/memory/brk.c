/* brk.c: the guest's heap, whose end the system call brk moves. Its addresses are reserved before the guest uses them. */
#include "run/client/memory/space_table.h"
#include "run/client/memory/watch.h"

#define BRK_SIZE ((u64)64 << 30)
/* The heap behind a program with fixed addresses, which may use the low addresses behind that itself. */
#define BRK_SIZE_NEAR ((u64)128 << 20)
#define BRK_SIZE_LEAST ((u64)16 << 20)

/* Reserves `size` bytes for the heap, or less if there is no room. */
static bool reserve_brk(u64 at, u64 size, u32 flags) {
    for (; size >= BRK_SIZE_LEAST; size /= 2) {
        i64 start = sys_mmap(at, size, PROT_NONE, NO_ACCESS_FLAGS | flags, -1, 0);
        if (sys_failed(start))
            continue;
        the.memory.brk_start = the.memory.brk_now = (u64)start;
        the.memory.brk_end = (u64)start + size;
        return true;
    }
    return false;
}

bool space_start_brk(u64 image_end) {
    u64 most = the.memory.limited ? BRK_SIZE_NEAR : BRK_SIZE;
    return (image_end && reserve_brk(page_up(image_end), BRK_SIZE_NEAR, MAP_FIXED_NOREPLACE)) ||
           reserve_brk(0, most, 0);
}

/* Reserves addresses behind the end of the heap, if nothing is in the way. */
static bool extend_brk(u64 want) {
    u64 end = page_up(want);
    if (want <= the.memory.brk_end)
        return true;
    i64 at = end >= want ? sys_mmap(the.memory.brk_end, end - the.memory.brk_end, PROT_NONE,
                                    NO_ACCESS_FLAGS | MAP_FIXED_NOREPLACE, -1, 0)
                         : -ENOMEM;
    if (sys_failed(at))
        return false;
    if ((u64)at != the.memory.brk_end) { /* an old kernel took the address for a hint */
        sys_munmap((u64)at, end - the.memory.brk_end);
        return false;
    }
    the.memory.brk_end = end;
    return true;
}

static bool move_brk(u64 from, u64 to) {
    Space *s = space_table();
    if (to > from) {
        if (ranges_touch(&s->guest, from, to) || !limits_allow(&s->guest, to - from, PROT_WRITE, 0, 0) ||
            sys_mprotect(from, to - from, PROT_READ | PROT_WRITE))
            return false;
        ranges_set(&s->guest, from, to, PROT_READ | PROT_WRITE);
    } else if (to < from) {
        if (sys_failed(space_vacate(to, from)))
            return false;
        ranges_clear(&s->guest, to, from);
    }
    return true;
}

u64 space_brk(u64 want) {
    Space *s = space_table();
    lock(&s->lock);
    u64 old = the.memory.brk_now;
    bool had_code = want < old && ranges_any(&s->guest, page_up(want), page_up(old), PROT_EXEC);
    if (want >= the.memory.brk_start && extend_brk(want) && move_brk(page_up(old), page_up(want)))
        the.memory.brk_now = want;
    u64 now = the.memory.brk_now;
    unlock(&s->lock);
    if (now < old && had_code)
        code_forget(page_up(now), page_up(old));
    return now;
}
