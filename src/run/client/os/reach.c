/* reach.c: see reach.h. */
#include "run/client/os/reach.h"
#include "run/client/os/signal/waits.h"

#include <linux/uio.h>

#include "run/client/memory/own.h"
#include "run/client/memory/peek.h"

enum { SCAN = 16 };
enum {
    MESSAGE_NAME = 0,
    MESSAGE_NAME_SIZE,
    MESSAGE_VECTOR,
    MESSAGE_COUNT,
    MESSAGE_CONTROL,
    MESSAGE_CONTROL_SIZE,
    MESSAGE_FLAGS
};

static u64 reachable(u64 addr) {
    return reach_is_suspect(addr) && space_is_own(addr, 1) ? the.memory.nowhere + addr % PAGE : addr;
}

void reach_replace(u32 pointers, const u64 a[6], u64 changed[6]) {
    memcpy(changed, a, 6 * sizeof(u64));
    for (; pointers; pointers &= pointers - 1) {
        u64 *addr = &changed[__builtin_ctz(pointers)];
        *addr = reachable(*addr);
    }
}

/* ------------------------------------------------------------------------------------------------ addresses in memory */

/* True if the list contains an address that may be the client's. A list that cannot be read does not count: the kernel will report it. */
static bool vector_is_suspect(u64 at, u64 count) {
    struct iovec part[SCAN];
    for (u64 i = 0; i < count; i += SCAN) {
        u64 n = count - i < SCAN ? count - i : SCAN;
        if (!copy_guarded(part, (const struct iovec *)at + i, n * sizeof(*part)))
            return false;
        for (u64 k = 0; k < n; k++)
            if (reach_is_suspect((u64)part[k].iov_base))
                return true;
    }
    return false;
}

/* Makes a copy of a list if it needs one, and returns its address, or 0 if it needs none. */
static u64 copy_vector(ReachCopies *c, u64 at, u64 count) {
    if (count > UIO_MAXIOV || !vector_is_suspect(at, count))
        return 0;
    u64 bytes = count * sizeof(struct iovec);
    struct iovec *copy = sys_pages(bytes);
    if (!copy)
        return 0;
    c->vector[c->vectors] = (u64)copy;
    c->bytes[c->vectors++] = bytes;
    copy_guarded(copy, (const void *)at, bytes);
    for (u64 i = 0; i < count; i++)
        copy[i].iov_base = (void *)reachable((u64)copy[i].iov_base);
    return (u64)copy;
}

/* True if this number is that of this process or of one of its threads. */
static bool is_here(u64 pid) {
    return !sys_tgkill(sys_getpid(), (int)pid, 0);
}

static void copy_vectors(const Reach *r, u64 a[6], ReachCopies *c) {
    for (u32 left = r->vectors; left; left &= left - 1) {
        u32 i = (u32)__builtin_ctz(left);
        u64 copy = r->remote >> i & 1 && !is_here(a[0]) ? 0 : copy_vector(c, a[i], a[i + 1]);
        a[i] = copy ? copy : a[i];
    }
}

static void copy_message(u64 *at, ReachCopies *c) {
    u64 *m = c->message;
    if (!copy_guarded(m, (const void *)*at, sizeof(c->message)))
        return;
    u64 vector = copy_vector(c, m[MESSAGE_VECTOR], m[MESSAGE_COUNT]), name = reachable(m[MESSAGE_NAME]);
    u64 list = vector ? vector : reachable(m[MESSAGE_VECTOR]), control = reachable(m[MESSAGE_CONTROL]);
    if (list == m[MESSAGE_VECTOR] && name == m[MESSAGE_NAME] && control == m[MESSAGE_CONTROL])
        return;
    m[MESSAGE_NAME] = name, m[MESSAGE_VECTOR] = list, m[MESSAGE_CONTROL] = control;
    c->original = *at;
    *at = (u64)m;
}

bool reach_begin(const Reach *r, u64 a[6], ReachCopies *c) {
    c->vectors = 0;
    c->original = 0;
    copy_vectors(r, a, c);
    if (r->message)
        copy_message(&a[__builtin_ctz(r->message)], c);
    return c->vectors || c->original;
}

/* Frees the copies, and writes what the kernel has put into the copy of a message's header to the guest's header. */
void reach_end(const ReachCopies *c) {
    static const u8 told[] = {MESSAGE_NAME_SIZE, MESSAGE_CONTROL_SIZE, MESSAGE_FLAGS};
    for (u32 i = 0; i < c->vectors; i++)
        sys_pages_free((void *)c->vector[i], c->bytes[i]);
    for (u32 i = 0; c->original && i < ARRAY_LEN(told); i++)
        guest_write(c->original + 8 * told[i], &c->message[told[i]], told[i] == MESSAGE_CONTROL_SIZE ? 8 : 4);
}

/* --------------------------------------------------------------------------------------------------- ranges of memory */

/* Makes the same call for each piece of [a[0], end) that belongs to the guest, because the kernel, too, goes on behind
 * a hole. */
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
