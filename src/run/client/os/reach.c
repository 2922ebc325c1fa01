/* reach.c: see reach.h. */
#include "run/client/os/reach.h"
#include "run/client/os/signal/waits.h"

void reach_replace(u32 pointers, const u64 a[6], u64 changed[6]) {
    memcpy(changed, a, 6 * sizeof(u64));
    for (; pointers; pointers &= pointers - 1) {
        u64 *addr = &changed[__builtin_ctz(pointers)];
        if (space_is_own(*addr, 1))
            *addr = the.nowhere + *addr % PAGE;
    }
}

/* The same call for each piece of [start, end) that is the guest's, as the kernel goes on behind a hole. */
static void do_pieces(Thread *t, u64 number, const u64 a[6], u64 end) {
    u64 from, to, piece[6];
    u32 prot;
    memcpy(piece, a, sizeof(piece));
    for (u64 at = a[0]; at < end && space_next(at, &from, &to, &prot) && from < end; at = to) {
        piece[0] = from > at ? from : at;
        piece[1] = (to < end ? to : end) - piece[0];
        syscall_repeated(t, number, piece);
    }
}

i64 reach_range(Thread *t, Call call, const u64 a[6]) {
    u64 start = page_down(a[0]), end = page_up(a[0] + a[1]);
    if (start >= end || !space_has_hole(start, end))
        return syscall_repeated(t, call_host(call), a);
    if ((call == CALL_madvise || call == CALL_msync) && a[0] == start)
        do_pieces(t, call_host(call), a, end);
    return call == CALL_mbind ? -EFAULT : -ENOMEM;
}
