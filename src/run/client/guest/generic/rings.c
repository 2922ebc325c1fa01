/* rings.c: io_uring of guests with the generic layout of structures. Requests lie in memory that guest and kernel share. The kernel would read a
 * struct epoll_event in them with the host's layout, and flags of open with the host's meaning, which are others. So requests are examined, where the
 * guest has mapped them, before they are handed over. This is possible because a ring without a kernel thread hands requests over only in
 * io_uring_enter.
 *
 *     IORING_OP_OPENAT         gets the host's flags, and so does
 *     IORING_OP_OPENAT2        with a structure of its own
 *     IORING_OP_EPOLL_CTL      gets the event in the host's layout until the kernel has read it
 *     IORING_OP_EPOLL_WAIT     is made an unknown request, as in kernels before Linux 6.15: its events would be written at any time
 *     IORING_SETUP_SQPOLL      is refused, as by kernels that allow it only to root
 *     IORING_SETUP_NO_MMAP and IORING_REGISTER_RING_FDS are unknown, as in older kernels: such rings could not be examined */
#include <linux/eventpoll.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>

#include "events.h"
#include "rings.h"
#include "run/client/core/open.h"
#include "run/client/memory/own.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"
#include "run/client/os/calls.h"

enum { RINGS = 64, UNKNOWN = 255, OP_EPOLL_WAIT = 59, SETUP_NO_MMAP = 1 << 14, SETUP_NO_SQARRAY = 1 << 16 };
enum { REGISTER_PROBE = 8, REGISTER_RING_FDS = 20, PROBE_HEAD = 16, PROBE_ROW = 8, PROBE_FLAGS = 2 };

/* What io_uring_setup has told of a ring. A ring is known by its inode. */
typedef struct Ring {
    u64 device, inode;
    u32 flags, entries;
    struct io_sqring_offsets at;
    u64 ring, requests; /* where the guest has mapped them; 0: not yet */
} Ring;

static struct {
    u32 lock, next;
    Ring list[RINGS]; /* a new ring replaces the oldest one */
} rings;

/* A request that was changed: its address, its former content, and what the kernel finds instead. */
typedef struct Change {
    u64 at;
    struct io_uring_sqe was, is;
    union {
        struct epoll_event event;
        struct open_how how;
    };
} Change;

typedef struct Changes {
    Change *list;
    u32 count, room;
} Changes;

/* ------------------------------------------------------------------------------------------------------------- the rings */

/* The caller holds the lock. Returns NULL if the ring is not known. */
static Ring *known(const struct stat *st) {
    for (u32 i = 0; i < RINGS; i++)
        if (rings.list[i].entries && rings.list[i].inode == st->st_ino && rings.list[i].device == st->st_dev)
            return &rings.list[i];
    return NULL;
}

static void remember(int fd, const struct io_uring_params *p) {
    struct stat st;
    if (sys_fstat(fd, &st))
        return;
    lock(&rings.lock);
    Ring *r = known(&st);
    *(r ? r : &rings.list[rings.next++ % RINGS]) =
        (Ring){st.st_dev, st.st_ino, p->flags, p->sq_entries, p->sq_off, 0, 0};
    unlock(&rings.lock);
}

static bool find(int fd, Ring *found) {
    struct stat st;
    if (sys_fstat(fd, &st))
        return false;
    lock(&rings.lock);
    const Ring *r = known(&st);
    if (r)
        *found = *r;
    unlock(&rings.lock);
    return r && found->ring && found->requests;
}

void rings_mapped(int fd, u64 off, u64 at) {
    struct stat st;
    if (!rings.next || (off != IORING_OFF_SQ_RING && off != IORING_OFF_SQES) || sys_fstat(fd, &st))
        return;
    lock(&rings.lock);
    Ring *r = known(&st);
    if (r)
        *(off == IORING_OFF_SQES ? &r->requests : &r->ring) = at;
    unlock(&rings.lock);
}

i64 guest_generic_io_uring_setup(Thread *t, const u64 a[6]) {
    struct io_uring_params p;
    if (guest_read(a[1], &p, sizeof(p)) != sizeof(p))
        return -EFAULT;
    if (p.flags & IORING_SETUP_SQPOLL)
        return -EPERM;
    if (p.flags & SETUP_NO_MMAP)
        return -EINVAL;
    i64 fd = call_do(t, CALL_io_uring_setup, a);
    if (fd >= 0 && guest_read(a[1], &p, sizeof(p)) == sizeof(p))
        remember((int)fd, &p);
    return fd;
}

/* ---------------------------------------------------------------------------------------------------------- the requests */

static bool has_room(Changes *c, u32 most) {
    if (!c->list) {
        c->room = most;
        c->list = sys_pages(most * sizeof(Change));
    }
    return c->list;
}

static void write_request(u64 at, const struct io_uring_sqe *s) {
    guest_write(at, s, sizeof(*s));
}

/* Each of these changes *s into what the kernel should find, and puts what the request points to into *c. Returns false if the request can stay as it is. */
static bool change_epoll(struct io_uring_sqe *s, Change *c) {
    GuestEvent event;
    if (s->len == EPOLL_CTL_DEL || guest_read(s->addr, &event, sizeof(event)) != sizeof(event))
        return false;
    c->event = host_event(&event);
    s->addr = (u64)&c->event;
    return true;
}

static bool change_openat(struct io_uring_sqe *s) {
    u32 flags = s->open_flags;
    s->open_flags = (u32)host_open_flags(flags);
    return s->open_flags != flags;
}

static bool change_openat2(struct io_uring_sqe *s, Change *c) {
    if (s->len != sizeof(c->how) || guest_read(s->addr2, &c->how, sizeof(c->how)) != sizeof(c->how))
        return false;
    u64 flags = c->how.flags;
    c->how.flags = host_open_flags(flags);
    if (c->how.flags == flags)
        return false;
    s->addr2 = (u64)&c->how;
    return true;
}

static bool change(struct io_uring_sqe *s, Change *c) {
    switch (s->opcode) {
    case OP_EPOLL_WAIT:
        s->opcode = UNKNOWN;
        return true;
    case IORING_OP_EPOLL_CTL:
        return change_epoll(s, c);
    case IORING_OP_OPENAT:
        return change_openat(s);
    case IORING_OP_OPENAT2:
        return change_openat2(s, c);
    default:
        return false;
    }
}

static bool may_change(const struct io_uring_sqe *s) {
    return s->opcode == OP_EPOLL_WAIT || s->opcode == IORING_OP_EPOLL_CTL || s->opcode == IORING_OP_OPENAT ||
           s->opcode == IORING_OP_OPENAT2;
}

/* Returns false if there is no memory. */
static bool change_request(Changes *c, u64 at, u32 most) {
    struct io_uring_sqe s;
    if (guest_read(at, &s, sizeof(s)) != sizeof(s) || !may_change(&s))
        return true; /* if it cannot be read, the kernel will report that */
    if (!has_room(c, most))
        return false;
    Change *next = &c->list[c->count];
    next->at = at;
    next->was = next->is = s;
    if (change(&next->is, next)) {
        write_request(at, &next->is);
        c->count++;
    }
    return true;
}

static u32 word_at(const Ring *r, u32 off) {
    u32 word = 0;
    guest_read(r->ring + off, &word, sizeof(word));
    return word;
}

/* Changes the requests that this call hands over, at most `most`. */
static bool change_requests(Changes *c, const Ring *r, u32 most) {
    u32 head = word_at(r, r->at.head), count = word_at(r, r->at.tail) - head, mask = r->entries - 1;
    u64 bytes = sizeof(struct io_uring_sqe) << (r->flags & IORING_SETUP_SQE128 ? 1 : 0);
    count = count < most ? count : most;
    for (u32 i = 0; i < count; i++) {
        u32 index = (head + i) & mask;
        if (!(r->flags & SETUP_NO_SQARRAY))
            index = word_at(r, r->at.array + index * (u32)sizeof(u32));
        if (index <= mask && !change_request(c, r->requests + index * bytes, count))
            return false;
    }
    return true;
}

/* Restores the requests, except those that the kernel has taken and another thread has overwritten since. */
static void restore_requests(const Changes *c) {
    struct io_uring_sqe now;
    for (u32 i = 0; i < c->count; i++) {
        const Change *change = &c->list[i];
        if (guest_read(change->at, &now, sizeof(now)) == sizeof(now) && !memcmp(&now, &change->is, sizeof(now)))
            write_request(change->at, &change->was);
    }
}

/* ------------------------------------------------------------------------------------------------------------ the calls */

/* Restores the requests before it waits. */
static i64 enter_changed(Thread *t, const u64 a[6], const Changes *c) {
    const u64 submit[6] = {a[0], a[1], 0, a[3] & ~(u64)(IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG)};
    i64 submitted = call_do(t, CALL_io_uring_enter, submit);
    restore_requests(c);
    if (submitted < 0 || !(a[3] & IORING_ENTER_GETEVENTS))
        return submitted;
    i64 result = call_do(t, CALL_io_uring_enter, (const u64[6]){a[0], 0, a[2], a[3], a[4], a[5]});
    return submitted ? submitted : result;
}

i64 guest_generic_io_uring_enter(Thread *t, const u64 a[6]) {
    Ring r;
    Changes c = {0};
    if (!a[1] || !find((int)a[0], &r))
        return call_do(t, CALL_io_uring_enter, a);
    i64 result = -ENOMEM;
    if (change_requests(&c, &r, (u32)a[1]))
        result = c.count ? enter_changed(t, a, &c) : call_do(t, CALL_io_uring_enter, a);
    else
        restore_requests(&c);
    if (c.list)
        sys_pages_free(c.list, c.room * sizeof(Change));
    return result;
}

i64 guest_generic_io_uring_register(Thread *t, const u64 a[6]) {
    if (a[1] == REGISTER_RING_FDS)
        return -EINVAL;
    i64 result = call_do(t, CALL_io_uring_register, a);
    u64 row = a[2] + PROBE_HEAD + OP_EPOLL_WAIT * PROBE_ROW;
    u16 none = 0;
    if (a[1] == REGISTER_PROBE && !result && a[3] > OP_EPOLL_WAIT)
        guest_write(row + PROBE_FLAGS, &none, sizeof(none));
    return result;
}
