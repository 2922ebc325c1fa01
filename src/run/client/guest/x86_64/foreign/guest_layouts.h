/* guest_layouts.h: structures of the kernel's as x86-64 Linux has them, where all other machines have asm-generic's. */
#ifndef GUEST_LAYOUTS_H
#define GUEST_LAYOUTS_H

#include <linux/sem.h>

#include "base/base.h"

typedef struct GuestStat {
    u64 dev, ino, nlink;
    u32 mode, uid, gid, pad;
    u64 rdev;
    i64 size, blksize, blocks;
    i64 atime, atime_nsec, mtime, mtime_nsec, ctime, ctime_nsec;
    i64 unused[3];
} GuestStat;

typedef struct __attribute__((packed)) GuestEvent { /* struct epoll_event */
    u32 events;
    u64 data;
} GuestEvent;

typedef struct GuestSemaphores { /* struct semid64_ds */
    struct ipc64_perm perm;
    i64 otime, pad1, ctime, pad2;
    u64 count, unused[2];
} GuestSemaphores;

_Static_assert(sizeof(GuestStat) == 144 && sizeof(GuestEvent) == 12 && sizeof(GuestSemaphores) == 104,
               "the kernel's layout");

enum { GUEST_MAP_IGNORED = 0 }; /* flags of mmap that this guest's kernel does not know */

#endif
