/* older.c: system calls that only x86-64 has, made of those that all machines have. The newer ones have a directory beside a path, flags, times with nanoseconds, or a mask of
 * signals besides. */
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"
#include "run/client/os/calls.h"

enum { SECOND_NS = 1000000000, SECOND_US = 1000000, MS_NS = 1000000, SECOND_MS = 1000 };

/* A call that all machines have, with these arguments. */
#define DO(name, ...) call_do(t, CALL_##name, (const u64[6]){__VA_ARGS__})
/* A path is from the working directory. */
#define HERE ((u64)(i64)AT_FDCWD)

/* ---------------------------------------------------------------------------------------------------------------- paths */

i64 guest_older_open(Thread *t, const u64 a[6]) {
    return guest_generic_openat(t, (const u64[6]){HERE, a[0], a[1], a[2]});
}

i64 guest_older_creat(Thread *t, const u64 a[6]) {
    return DO(openat, HERE, a[0], O_CREAT | O_WRONLY | O_TRUNC, a[1]);
}

i64 guest_older_stat(Thread *t, const u64 a[6]) {
    return guest_generic_newfstatat(t, (const u64[6]){HERE, a[0], a[1], 0});
}

i64 guest_older_lstat(Thread *t, const u64 a[6]) {
    return guest_generic_newfstatat(t, (const u64[6]){HERE, a[0], a[1], AT_SYMLINK_NOFOLLOW});
}

i64 guest_older_access(Thread *t, const u64 a[6]) {
    return DO(faccessat, HERE, a[0], a[1]);
}

i64 guest_older_rename(Thread *t, const u64 a[6]) {
    return DO(renameat, HERE, a[0], HERE, a[1]);
}

i64 guest_older_mkdir(Thread *t, const u64 a[6]) {
    return DO(mkdirat, HERE, a[0], a[1]);
}

i64 guest_older_rmdir(Thread *t, const u64 a[6]) {
    return DO(unlinkat, HERE, a[0], AT_REMOVEDIR);
}

i64 guest_older_link(Thread *t, const u64 a[6]) {
    return DO(linkat, HERE, a[0], HERE, a[1], 0);
}

i64 guest_older_unlink(Thread *t, const u64 a[6]) {
    return DO(unlinkat, HERE, a[0], 0);
}

i64 guest_older_symlink(Thread *t, const u64 a[6]) {
    return DO(symlinkat, a[0], HERE, a[1]);
}

i64 guest_older_readlink(Thread *t, const u64 a[6]) {
    return DO(readlinkat, HERE, a[0], a[1], a[2]);
}

i64 guest_older_chmod(Thread *t, const u64 a[6]) {
    return DO(fchmodat, HERE, a[0], a[1]);
}

i64 guest_older_chown(Thread *t, const u64 a[6]) {
    return DO(fchownat, HERE, a[0], a[1], a[2], 0);
}

i64 guest_older_lchown(Thread *t, const u64 a[6]) {
    return DO(fchownat, HERE, a[0], a[1], a[2], AT_SYMLINK_NOFOLLOW);
}

i64 guest_older_mknod(Thread *t, const u64 a[6]) {
    return DO(mknodat, HERE, a[0], a[1], a[2]);
}

typedef struct Entry { /* struct linux_dirent64, up to the name */
    u64 inode, next;
    u16 bytes;
    u8 type;
} Entry;

/* The entries are as long, but the newer ones have the type in front of the name, and the older ones in their last byte. */
i64 guest_older_getdents(Thread *t, const u64 a[6]) {
    i64 size = DO(getdents64, a[0], a[1], a[2]);
    for (i64 at = 0; at < size;) {
        u8 *entry = (u8 *)a[1] + at, *type = entry + offsetof(Entry, type), found = *type;
        u16 bytes;
        memcpy(&bytes, entry + offsetof(Entry, bytes), sizeof(bytes));
        memmove(type, type + 1, (size_t)(entry + bytes - (type + 1)));
        entry[bytes - 1] = found;
        at += bytes;
    }
    return size;
}

/* --------------------------------------------------------------------------------------------------------- times of files */

/* Reads two points in time of two words each and sets those of the file; `unit_ns` is that of the second words. */
static i64 set_times(Thread *t, u64 dir, u64 path, u64 from, u64 unit_ns) {
    i64 times[4];
    if (!from)
        return DO(utimensat, dir, path, 0, 0);
    if (guest_read(from, times, sizeof(times)) != sizeof(times))
        return -EFAULT;
    for (u32 i = 1; i < ARRAY_LEN(times); i += 2) {
        if (times[i] < 0 || (u64)times[i] >= SECOND_NS / unit_ns)
            return -EINVAL;
        times[i] *= (i64)unit_ns;
    }
    return DO(utimensat, dir, path, (u64)times, 0);
}

i64 guest_older_utimes(Thread *t, const u64 a[6]) {
    return set_times(t, HERE, a[0], a[1], SECOND_NS / SECOND_US);
}

i64 guest_older_futimesat(Thread *t, const u64 a[6]) {
    return set_times(t, a[0], a[1], a[2], SECOND_NS / SECOND_US);
}

i64 guest_older_utime(Thread *t, const u64 a[6]) {
    i64 seconds[2];
    if (!a[1])
        return DO(utimensat, HERE, a[0], 0, 0);
    if (guest_read(a[1], seconds, sizeof(seconds)) != sizeof(seconds))
        return -EFAULT;
    i64 times[4] = {seconds[0], 0, seconds[1], 0};
    return DO(utimensat, HERE, a[0], (u64)times, 0);
}

/* ----------------------------------------------------------------------------------------------------------- descriptors */

i64 guest_older_pipe(Thread *t, const u64 a[6]) {
    return DO(pipe2, a[0], 0);
}

/* dup3 refuses a descriptor that is to be copied to itself. */
i64 guest_older_dup2(Thread *t, const u64 a[6]) {
    if ((u32)a[0] != (u32)a[1])
        return DO(dup3, a[0], a[1], 0);
    i64 flags = DO(fcntl, a[0], F_GETFD);
    return flags < 0 ? flags : (i64)(u32)a[1];
}

i64 guest_older_eventfd(Thread *t, const u64 a[6]) {
    return DO(eventfd2, a[0], 0);
}

i64 guest_older_signalfd(Thread *t, const u64 a[6]) {
    return DO(signalfd4, a[0], a[1], a[2], 0);
}

i64 guest_older_inotify_init(Thread *t, const u64 a[6]) {
    return (void)a, DO(inotify_init1, 0);
}

i64 guest_older_epoll_create(Thread *t, const u64 a[6]) {
    return (i32)a[0] <= 0 ? -EINVAL : DO(epoll_create1, 0);
}

/* --------------------------------------------------------------------------------------------------------------- waiting */

i64 guest_older_epoll_wait(Thread *t, const u64 a[6]) {
    return guest_generic_epoll_pwait(t, (const u64[6]){a[0], a[1], a[2], a[3], 0, 0});
}

i64 guest_older_poll(Thread *t, const u64 a[6]) {
    i32 ms = (i32)a[2];
    i64 limit[2] = {ms / SECOND_MS, (i64)(ms % SECOND_MS) * MS_NS};
    return DO(ppoll, a[0], a[1], ms < 0 ? 0 : (u64)limit, 0, 0);
}

/* The kernel writes back how much of the time was left, and so does the newer call. */
i64 guest_older_select(Thread *t, const u64 a[6]) {
    i64 limit[2];
    if (!a[4])
        return DO(pselect6, a[0], a[1], a[2], a[3], 0, 0);
    if (guest_read(a[4], limit, sizeof(limit)) != sizeof(limit))
        return -EFAULT;
    limit[0] += limit[1] / SECOND_US;
    limit[1] = limit[1] % SECOND_US * (SECOND_NS / SECOND_US);
    i64 result = DO(pselect6, a[0], a[1], a[2], a[3], (u64)limit, 0);
    limit[1] /= SECOND_NS / SECOND_US;
    guest_write(a[4], limit, sizeof(limit)); /* it may be in memory that cannot be written */
    return result;
}

i64 guest_older_pause(Thread *t, const u64 a[6]) {
    return (void)a, DO(ppoll, 0, 0, 0, 0, 0);
}

/* What was left of the former time is rounded, but not to nothing. */
i64 guest_older_alarm(Thread *t, const u64 a[6]) {
    enum { REAL_TIME = 0 };
    i64 next[4] = {0, 0, (u32)a[0], 0}, former[4] = {0};
    i64 error = DO(setitimer, REAL_TIME, (u64)next, (u64)former);
    return error ? error : former[2] + (former[3] >= SECOND_US / 2 || (!former[2] && former[3]));
}

/* ---------------------------------------------------------------------------------------------------------------- others */

/* Only x86-64's kernel finds addresses below 2 GiB by itself (MAP_32BIT). Here they are tried one after the other. */
i64 guest_older_mmap(Thread *t, const u64 a[6]) {
    enum { FIRST = 0x40000000, STEP = 1 << 20 };
    const u64 end = (u64)1 << 31;
    u64 flags = a[3] & ~(u64)MAP_32BIT;
    if (flags == a[3] || flags & (MAP_FIXED | MAP_FIXED_NOREPLACE))
        return guest_generic_mmap(t, (const u64[6]){a[0], a[1], a[2], flags, a[4], a[5]});
    for (u64 at = FIRST; a[1] <= end - at; at += STEP) {
        const u64 there[6] = {at, a[1], a[2], flags | MAP_FIXED_NOREPLACE, a[4], a[5]};
        i64 result = guest_generic_mmap(t, there);
        if (result == (i64)at || (sys_failed(result) && result != -EEXIST))
            return result;
        if (!sys_failed(result)) /* an older kernel has taken the address for a wish */
            DO(munmap, (u64)result, a[1]);
    }
    return -ENOMEM;
}

i64 guest_older_getpgrp(Thread *t, const u64 a[6]) {
    return (void)a, DO(getpgid, 0);
}

i64 guest_older_time(Thread *t, const u64 a[6]) {
    struct timespec now;
    (void)t;
    sys_clock_gettime(CLOCK_REALTIME, &now);
    i64 seconds = (i64)now.tv_sec;
    return a[0] && guest_write(a[0], &seconds, sizeof(seconds)) != sizeof(seconds) ? -EFAULT : seconds;
}
