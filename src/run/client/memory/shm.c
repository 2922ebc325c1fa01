/* shm.c: the guest's System V shared memory. It is attached and detached by system calls of its own, which must tell
 * the table of the guest's memory. */
#include <linux/ipc.h>
#include <linux/shm.h>

#include "run/client/core/client.h"
#include "run/client/memory/maps.h"
#include "run/client/memory/space.h"
#include "run/client/memory/watch.h"

/* The size of a segment, or 0 if it does not exist or may not be examined. */
static u64 segment_size(int id) {
    struct shmid64_ds ds;
    return sys3(__NR_shmctl, (u64)id, IPC_STAT, (u64)&ds) < 0 ? 0 : ds.shm_segsz;
}

/* The size of the mapping at addr. mprotect may have cut it into parts, which follow each other in memory as in the
 * segment. The same segment may be attached a second time right behind it, which does not count. */
static u64 attached_size(u64 addr) {
    MapsReader r;
    MapsLine line;
    u64 end = 0;
    char origin[64] = "";
    for (bool more = maps_open(&r); more && maps_next(&r, &line);) {
        if (line.start == addr)
            format_text(origin, sizeof(origin), "%s", line.origin);
        else if (line.start != end)
            continue;
        if (!strcmp(origin, line.origin) && line.off == line.start - addr)
            end = line.end;
    }
    maps_close(&r);
    return end ? end - addr : 0;
}

/* SHM_REMAP may replace what is mapped at an address, but never the client's memory. Guest memory is never executable
 * on the host, so SHM_EXEC is left out. */
i64 shm_attach(int id, u64 addr, u32 flags) {
    u64 size = page_up(segment_size(id)), at = flags & SHM_RND ? page_down(addr) : addr;
    if (addr)
        space_make_room(at, size);
    if (addr && size && space_is_free(at, size))
        flags |= SHM_REMAP;
    bool replaces = addr && flags & SHM_REMAP;
    if (replaces && (!size || space_is_own(at, size)))
        return -EINVAL;
    i64 result = sys3(__NR_shmat, (u64)id, addr, flags & ~(u32)SHM_EXEC);
    if (sys_failed(result))
        return result;
    int prot = PROT_READ | (flags & SHM_RDONLY ? 0 : PROT_WRITE) | (flags & SHM_EXEC ? PROT_EXEC : 0);
    if (!size)
        size = attached_size((u64)result);
    space_note((u64)result, size, prot | SPACE_SHARED);
    quick_remapped((u64)result, (u64)result + size, true);
    if (prot & PROT_WRITE)
        quick_made_writable((u64)result, (u64)result + size);
    return result;
}

i64 shm_detach(u64 addr) {
    u64 size = attached_size(addr);
    i64 result = sys1(__NR_shmdt, addr);
    if (!result && size) {
        space_note(addr, size, PROT_UNMAPPED);
        quick_remapped(addr, addr + size, false);
    }
    return result;
}
