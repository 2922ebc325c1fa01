/* guest_layouts.h: structures of the kernel's as asm-generic has them, where x86-64 Linux has its own. */
#ifndef GUEST_LAYOUTS_H
#define GUEST_LAYOUTS_H

#include <linux/sem.h>

#include "base/base.h"

typedef struct GuestStat { /* asm-generic/stat.h */
    u64 dev, ino;
    u32 mode, nlink, uid, gid;
    u64 rdev, pad1;
    i64 size;
    i32 blksize, pad2;
    i64 blocks;
    i64 atime, atime_nsec, mtime, mtime_nsec, ctime, ctime_nsec;
    u32 unused[2];
} GuestStat;

typedef struct GuestEvent { /* struct epoll_event */
    u32 events, pad;
    u64 data;
} GuestEvent;

typedef struct GuestSemaphores { /* struct semid64_ds; x86-64 has padding between these members */
    struct ipc64_perm perm;
    i64 otime, ctime;
    u64 count, unused[2];
} GuestSemaphores;

_Static_assert(sizeof(GuestStat) == 128 && sizeof(GuestEvent) == 16 && sizeof(GuestSemaphores) == 88,
               "the kernel's layout");

/* Flags of mmap that ask for certain addresses on x86-64. Elsewhere they mean nothing and are removed. */
enum { GUEST_MAP_IGNORED = 0x40 | 0x80 }; /* MAP_32BIT, MAP_ABOVE4G */

#endif
