/* calls.c: system calls that differ on riscv64 Linux: in structures, in the order of arguments, or because they are
 * about the CPU. */
#include "run/client/os/calls.h"

#include <linux/sem.h>

#include "events.h"
#include "rings.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"
#include "run/client/memory/watch.h"

/* ---------------------------------------------------------------------------------------------------------------- files */

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

_Static_assert(sizeof(GuestStat) == 128, "the kernel's layout");

static i64 put_stat(u64 to, const struct stat *st) {
    GuestStat out = {
        .dev = st->st_dev,
        .ino = st->st_ino,
        .mode = st->st_mode,
        .nlink = (u32)st->st_nlink,
        .uid = st->st_uid,
        .gid = st->st_gid,
        .rdev = st->st_rdev,
        .size = (i64)st->st_size,
        .blksize = (i32)st->st_blksize,
        .blocks = (i64)st->st_blocks,
        .atime = (i64)st->st_atime,
        .atime_nsec = (i64)st->st_atime_nsec,
        .mtime = (i64)st->st_mtime,
        .mtime_nsec = (i64)st->st_mtime_nsec,
        .ctime = (i64)st->st_ctime,
        .ctime_nsec = (i64)st->st_ctime_nsec,
    };
    return guest_write(to, &out, sizeof(out)) == sizeof(out) ? 0 : -EFAULT;
}

i64 guest_riscv_fstat(Thread *t, const u64 a[6]) {
    struct stat st;
    i64 error = call_do(t, CALL_fstat, (const u64[6]){a[0], (u64)&st});
    return error ? error : put_stat(a[1], &st);
}

i64 guest_riscv_newfstatat(Thread *t, const u64 a[6]) {
    struct stat st;
    i64 error = call_do(t, CALL_newfstatat, (const u64[6]){a[0], a[1], (u64)&st, a[3]});
    return error ? error : put_stat(a[2], &st);
}

/* --------------------------------------------------------------------------------------------------------------- events */

enum { EVENTS_MAX = 1024 }; /* in one call; a guest that wants more gets the others with its next call */

i64 guest_riscv_epoll_ctl(Thread *t, const u64 a[6]) {
    GuestEvent in;
    struct epoll_event event = {0};
    if (a[3] && guest_read(a[3], &in, sizeof(in)) != sizeof(in))
        return -EFAULT;
    if (a[3])
        event = host_event(&in);
    return call_do(t, CALL_epoll_ctl, (const u64[6]){a[0], a[1], a[2], a[3] ? (u64)&event : 0});
}

static i64 wait_for_events(Thread *t, Call call, const u64 a[6]) {
    struct epoll_event events[EVENTS_MAX];
    i32 most = (i32)a[2] > EVENTS_MAX ? EVENTS_MAX : (i32)a[2];
    i64 count = call_do(t, call, (const u64[6]){a[0], (u64)events, (u64)(i64)most, a[3], a[4], a[5]});
    for (i64 i = 0; i < count; i++) {
        GuestEvent out = {.events = (u32)events[i].events, .data = events[i].data};
        if (guest_write(a[1] + (u64)i * sizeof(out), &out, sizeof(out)) != sizeof(out))
            return -EFAULT;
    }
    return count;
}

i64 guest_riscv_epoll_pwait(Thread *t, const u64 a[6]) {
    return wait_for_events(t, CALL_epoll_pwait, a);
}

i64 guest_riscv_epoll_pwait2(Thread *t, const u64 a[6]) {
    return wait_for_events(t, CALL_epoll_pwait2, a);
}

/* ----------------------------------------------------------------------------------------------------- memory, semaphores */

/* On x86-64 these bits ask for certain addresses; on riscv64 they mean nothing and are removed. */
i64 guest_riscv_mmap(Thread *t, const u64 a[6]) {
    enum { ADDRESS_BITS = 0x40 | 0x80 }; /* MAP_32BIT, MAP_ABOVE4G */
    i64 result = call_do(t, CALL_mmap, (const u64[6]){a[0], a[1], a[2], a[3] & ~(u64)ADDRESS_BITS, a[4], a[5]});
    if (!sys_failed(result) && !(a[3] & MAP_ANONYMOUS))
        rings_mapped((int)a[4], a[5], (u64)result);
    return result;
}

typedef struct GuestSemaphores { /* struct semid64_ds of asm-generic; x86-64 has padding between these members */
    struct ipc64_perm perm;
    i64 otime, ctime;
    u64 count, unused[2];
} GuestSemaphores;

_Static_assert(sizeof(GuestSemaphores) == 88, "the kernel's layout");

i64 guest_riscv_semctl(Thread *t, const u64 a[6]) {
    struct semid64_ds host = {0};
    GuestSemaphores guest = {0};
    u64 with_host[6] = {a[0], a[1], a[2], (u64)&host};
    switch ((int)a[2]) {
    case IPC_SET:
        if (guest_read(a[3], &guest, sizeof(guest)) != sizeof(guest))
            return -EFAULT;
        host.sem_perm = guest.perm;
        return call_do(t, CALL_semctl, with_host);
    case IPC_STAT:
    case SEM_STAT:
    case SEM_STAT_ANY: {
        i64 result = call_do(t, CALL_semctl, with_host);
        guest = (GuestSemaphores){host.sem_perm, host.sem_otime, host.sem_ctime, host.sem_nsems, {0}};
        return result >= 0 && guest_write(a[3], &guest, sizeof(guest)) != sizeof(guest) ? -EFAULT : result;
    }
    default:
        return call_do(t, CALL_semctl, a);
    }
}

/* ------------------------------------------------------------------------------------------------------------ processes */

/* The arguments are flags, stack, parent_tid, tls, child_tid; x86-64 has the last two the other way round. */
i64 guest_riscv_clone(Thread *t, const u64 a[6]) {
    return call_do(t, CALL_clone, (const u64[6]){a[0], a[1], a[2], a[4], a[3]});
}

i64 guest_riscv_uname(Thread *t, const u64 a[6]) {
    enum { FIELD = 65, MACHINE = 4 };
    char names[6][FIELD];
    i64 error = call_do(t, CALL_uname, (const u64[6]){(u64)names});
    if (error)
        return error;
    memset(names[MACHINE], 0, FIELD);
    memcpy(names[MACHINE], "riscv64", sizeof("riscv64"));
    return guest_write(a[0], names, sizeof(names)) == sizeof(names) ? 0 : -EFAULT;
}

/* ------------------------------------------------------------------------------------------------------------------ CPU */

/* Documentation/arch/riscv/hwprobe.rst */
enum {
    KEY_BASE = 3,
    BASE_IMA = 1,
    KEY_EXTENSIONS = 4,
    EXT_FD = 1 << 0,
    EXT_C = 1 << 1,
    EXT_ZBA = 1 << 3,
    EXT_ZBB = 1 << 4,
    EXT_ZBS = 1 << 5,
    EXT_ZBC = 1 << 7,
    EXT_ZBKB = 1 << 8,
    EXT_ZBKC = 1 << 9,
    EXT_ZBKX = 1 << 10,
    KEY_MISALIGNED = 5,
    MISALIGNED_FAST = 3,
};
#define EXT_ZFH ((u64)1 << 27)
#define EXT_ZFHMIN ((u64)1 << 28)
#define EXT_ZFA ((u64)1 << 32)
#define EXT_ZICOND ((u64)1 << 35)

typedef struct Probe {
    i64 key;
    u64 value;
} Probe;

static void answer(Probe *p) {
    switch (p->key) {
    case 0:
    case 1:
    case 2:
        p->value = 0;
        break; /* vendor, architecture, implementation */
    case KEY_BASE:
        p->value = BASE_IMA;
        break;
    case KEY_EXTENSIONS:
        p->value = EXT_FD | EXT_C | EXT_ZBA | EXT_ZBB | EXT_ZBS | EXT_ZBC | EXT_ZBKB | EXT_ZBKC | EXT_ZBKX | EXT_ZFH |
                   EXT_ZFHMIN | EXT_ZFA | EXT_ZICOND;
        break;
    case KEY_MISALIGNED:
        p->value = MISALIGNED_FAST;
        break;
    default:
        p->key = -1, p->value = 0;
        break;
    }
}

i64 guest_riscv_hwprobe(Thread *t, const u64 a[6]) {
    (void)t;
    if (a[4])
        return -EINVAL;
    for (u64 i = 0; i < a[1]; i++) {
        u64 at = a[0] + i * sizeof(Probe);
        Probe p;
        if (guest_read(at, &p, sizeof(p)) != sizeof(p))
            return -EFAULT;
        answer(&p);
        if (guest_write(at, &p, sizeof(p)) != sizeof(p))
            return -EFAULT;
    }
    return 0;
}

/* The guest has written code: forgets the translations of what was there before. */
i64 guest_riscv_flush_icache(Thread *t, const u64 a[6]) {
    (void)t;
    enum { LOCAL = 1 };
    if (a[2] & ~(u64)LOCAL)
        return -EINVAL;
    if (a[0] < a[1])
        code_forget(a[0], a[1]);
    return 0;
}

bool guest_interrupt(Thread *t) {
    (void)t;
    return false;
}
