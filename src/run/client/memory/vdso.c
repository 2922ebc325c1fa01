/* vdso.c: the kernel's code for asking the time, as the guest has it.
 *
 * The kernel maps the vdso at an address of its own choice, far from the code arena. Its code reads data pages that lie in front of it at
 * a fixed distance. So code and data are moved together into the window, where the code is a module like a library: translated on
 * demand, and kept in the cache. As it is not a file, the cache's key is made of its bytes, so another kernel has another pack.
 */
#include <linux/auxvec.h>

#include "host/host.h"
#include "run/client/core/client.h"
#include "run/client/memory/key.h"
#include "run/client/memory/maps.h"
#include "run/client/memory/space.h"

enum { PARTS_MAX = 4 };

typedef struct Part {
    u64 start, end;
} Part;

static u64 host_vdso(void) {
    for (const u64 *a = the.auxv; a[0] != AT_NULL; a += 2)
        if (a[0] == AT_SYSINFO_EHDR)
            return a[1];
    return 0;
}

/* Finds the data pages and the code, which is last; there are no gaps between them. Returns the number of parts, or 0
 * if they are not as expected. */
static u32 find_parts(u64 vdso, Part parts[PARTS_MAX]) {
    MapsReader r;
    MapsLine line;
    u32 count = 0;
    bool whole = false;
    for (bool more = maps_open(&r); more && !whole && maps_next(&r, &line);) {
        whole = line.start == vdso;
        if (!whole && strncmp(line.name, "[vvar", 5))
            continue;
        if (count == PARTS_MAX || (count && parts[count - 1].end != line.start))
            break;
        parts[count++] = (Part){line.start, line.end};
    }
    maps_close(&r);
    return whole && count && parts[count - 1].start == vdso ? count : 0;
}

/* The parts keep their distances. The kernel moves each part as a whole or not at all. */
static bool move_parts(const Part *parts, u32 count, u64 to) {
    for (u32 i = 0; i < count; i++) {
        u64 size = parts[i].end - parts[i].start, target = to + (parts[i].start - parts[0].start);
        if (sys_failed(sys_mremap(parts[i].start, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, target)))
            return false;
    }
    return true;
}

/* If the guest does not get the vdso, it must not find it among its mappings either. */
static void remove_parts(const Part *parts, u32 count) {
    for (u32 i = 0; i < count; i++)
        sys_munmap(parts[i].start, parts[i].end - parts[i].start);
}

static void adopt_parts(u64 vdso, const Part *parts, u32 count) {
    u64 size = parts[count - 1].end - parts[0].start, code_size = parts[count - 1].end - vdso;
    i64 to = space_reserve(0, size, PAGE);
    if (sys_failed(to))
        return;
    if (!move_parts(parts, count, (u64)to)) {
        space_munmap((u64)to, size);
        return;
    }
    u64 code = (u64)to + size - code_size;
    space_note((u64)to, size - code_size, PROT_READ);
    space_add_code(code, code + code_size, key_of_bytes((const void *)code, code_size, &the.opt.code), "vdso");
    the.memory.vdso = code;
}

/* The vdso is the host's code, so only a guest of the host's kind can have it. */
void vdso_adopt(void) {
    Part parts[PARTS_MAX];
    u64 vdso = host_vdso();
    u32 count = vdso ? find_parts(vdso, parts) : 0;
    if (count && guest_facts.is_hosts && host_has_plain_vdso())
        adopt_parts(vdso, parts, count);
    else
        remove_parts(parts, count);
}
