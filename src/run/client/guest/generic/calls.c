/* calls.c: system calls that differ between x86-64 Linux and those machines whose structures, numbers and order of arguments are asm-generic's. What the guest has is in
 * guest_layouts.h and guest_open.h, what the host has in its kernel's headers. */
#include "run/client/os/calls.h"

#include <linux/openat2.h>

#include "events.h"
#include "rings.h"
#include "run/client/core/open.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"

/* ---------------------------------------------------------------------------------------------------------------- files */

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

i64 guest_generic_fstat(Thread *t, const u64 a[6]) {
    struct stat st;
    i64 error = call_do(t, CALL_fstat, (const u64[6]){a[0], (u64)&st});
    return error ? error : put_stat(a[1], &st);
}

i64 guest_generic_newfstatat(Thread *t, const u64 a[6]) {
    struct stat st;
    i64 error = call_do(t, CALL_newfstatat, (const u64[6]){a[0], a[1], (u64)&st, a[3]});
    return error ? error : put_stat(a[2], &st);
}

i64 guest_generic_openat(Thread *t, const u64 a[6]) {
    return call_do(t, CALL_openat, (const u64[6]){a[0], a[1], host_open_flags(a[2]), a[3]});
}

/* If the size is wrong, or the structure cannot be read, the call is made as it is, and the kernel answers with the right error. */
i64 guest_generic_openat2(Thread *t, const u64 a[6]) {
    u64 how[PAGE / sizeof(u64)] = {0}; /* struct open_how, and what may be behind it one day */
    if (a[3] < sizeof(struct open_how) || a[3] > sizeof(how) || guest_read(a[2], how, a[3]) != a[3])
        return call_do(t, CALL_openat2, a);
    how[0] = host_open_flags(how[0]);
    return call_do(t, CALL_openat2, (const u64[6]){a[0], a[1], (u64)how, a[3]});
}

i64 guest_generic_open_by_handle_at(Thread *t, const u64 a[6]) {
    return call_do(t, CALL_open_by_handle_at, (const u64[6]){a[0], a[1], host_open_flags(a[2])});
}

i64 guest_generic_fanotify_init(Thread *t, const u64 a[6]) {
    return call_do(t, CALL_fanotify_init, (const u64[6]){a[0], host_open_flags(a[1])});
}

i64 guest_generic_pipe2(Thread *t, const u64 a[6]) {
    return call_do(t, CALL_pipe2, (const u64[6]){a[0], host_open_flags(a[1])});
}

i64 guest_generic_fcntl(Thread *t, const u64 a[6]) {
    i64 result =
        call_do(t, CALL_fcntl, (const u64[6]){a[0], a[1], (u32)a[1] == F_SETFL ? host_open_flags(a[2]) : a[2]});
    return (u32)a[1] == F_GETFL && result >= 0 ? (i64)guest_open_flags((u64)result) : result;
}

/* --------------------------------------------------------------------------------------------------------------- events */

enum { EVENTS_MAX = 1024 }; /* in one call; a guest that wants more gets the others with its next call */

i64 guest_generic_epoll_ctl(Thread *t, const u64 a[6]) {
    GuestEvent in;
    struct epoll_event event = {0};
    bool given = a[3] && (i32)a[1] != EPOLL_CTL_DEL; /* the kernel does not look at it then */
    if (given && guest_read(a[3], &in, sizeof(in)) != sizeof(in))
        return -EFAULT;
    if (given)
        event = host_event(&in);
    return call_do(t, CALL_epoll_ctl, (const u64[6]){a[0], a[1], a[2], given ? (u64)&event : 0});
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

i64 guest_generic_epoll_pwait(Thread *t, const u64 a[6]) {
    return wait_for_events(t, CALL_epoll_pwait, a);
}

i64 guest_generic_epoll_pwait2(Thread *t, const u64 a[6]) {
    return wait_for_events(t, CALL_epoll_pwait2, a);
}

/* ----------------------------------------------------------------------------------------------------- memory, semaphores */

i64 guest_generic_mmap(Thread *t, const u64 a[6]) {
    i64 result = call_do(t, CALL_mmap, (const u64[6]){a[0], a[1], a[2], a[3] & ~(u64)GUEST_MAP_IGNORED, a[4], a[5]});
    if (!sys_failed(result) && !(a[3] & MAP_ANONYMOUS))
        rings_mapped((int)a[4], a[5], (u64)result);
    return result;
}

i64 guest_generic_semctl(Thread *t, const u64 a[6]) {
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
        guest = (GuestSemaphores){
            .perm = host.sem_perm, .otime = host.sem_otime, .ctime = host.sem_ctime, .count = host.sem_nsems};
        return result >= 0 && guest_write(a[3], &guest, sizeof(guest)) != sizeof(guest) ? -EFAULT : result;
    }
    default:
        return call_do(t, CALL_semctl, a);
    }
}

/* ------------------------------------------------------------------------------------------------------------ processes */

/* The arguments are flags, stack, parent_tid, tls, child_tid; x86-64 has the last two the other way round. */
i64 guest_generic_clone(Thread *t, const u64 a[6]) {
    return call_do(t, CALL_clone, (const u64[6]){a[0], a[1], a[2], a[4], a[3]});
}

i64 guest_generic_uname(Thread *t, const u64 a[6]) {
    enum { FIELD = 65, MACHINE = 4 };
    char names[6][FIELD];
    i64 error = call_do(t, CALL_uname, (const u64[6]){(u64)names});
    if (error)
        return error;
    const char *machine = guest_facts.platform ? guest_facts.platform : guest_facts.name;
    memset(names[MACHINE], 0, FIELD);
    memcpy(names[MACHINE], machine, strlen(machine));
    return guest_write(a[0], names, sizeof(names)) == sizeof(names) ? 0 : -EFAULT;
}
