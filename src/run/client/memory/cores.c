/* cores.c: see cores.h. */
#include "run/client/memory/cores.h"

#include "run/client/core/client.h"
#include "run/client/memory/space.h"

/* The kernel does so for what is mapped in the range, whatever is not. */
static void hide(u64 start, u64 end) {
    if (start < end)
        sys_madvise(start, end - start, MADV_DONTDUMP);
}

void cores_hide_client(void) {
    const u64 end = (u64)1 << 47;
    u64 at = 0, from, to;
    u32 prot;
    for (; space_next(at, &from, &to, &prot) && from < end; at = to)
        hide(at, from);
    hide(at, end - PAGE);
}
