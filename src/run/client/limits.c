/* limits.c: limits of memory, which the client's own memory must not count for.
 *
 * Its reservations are far larger than any limit that a guest may set itself, and locked or limited they would end the
 * guest. Limits of the address space and of data are therefore only remembered; what is locked is the guest's memory
 * alone.
 */
#include <asm/resource.h>

#include "run/client/client.h"
#include "run/client/space.h"

/* The limit of this process that is only remembered; NULL: the kernel's business. */
static Limit *own_limit(u32 resource) {
    return resource == RLIMIT_AS ? &the.address_limit : resource == RLIMIT_DATA ? &the.data_limit : NULL;
}

/* The kernel's, until the guest has set one. */
static Limit current(u32 resource) {
    Limit limit = *own_limit(resource);
    if (!limit.soft && !limit.hard)
        sys_prlimit(resource, NULL, &limit.soft);
    return limit;
}

static i64 change(u32 resource, Limit limit) {
    if (limit.soft > limit.hard)
        return -EINVAL;
    if (limit.hard > current(resource).hard && sys_geteuid())
        return -EPERM;
    *own_limit(resource) = limit;
    return 0;
}

/* The old limit is written last, as the kernel does it, but both addresses are looked at first: reading the limit
 * through the kernel finds a bad one. */
i64 limits_call(int pid, u32 resource, u64 set, u64 old) {
    bool here = !pid || pid == (int)sys_getpid();
    if (!here || !own_limit(resource))
        return sys4(__NR_prlimit64, (u64)(i64)pid, resource, set, old);
    Limit limit = current(resource), wanted;
    if (set && guest_read(set, &wanted, sizeof(wanted)) != sizeof(wanted))
        return -EFAULT;
    i64 error = old ? sys4(__NR_prlimit64, 0, resource, 0, old) : 0;
    if (!error && set)
        error = change(resource, wanted);
    if (!error && old)
        memcpy((void *)old, &limit, sizeof(limit));
    return error;
}

/* The kernel kills who writes more than that. */
bool limits_allow_file(u64 size) {
    Limit limit = {0};
    return !sys_prlimit(RLIMIT_FSIZE, NULL, &limit.soft) && size <= limit.soft;
}

/* What comes later is not locked. Memory without access has no pages that could be. */
i64 limits_lock_all(u32 flags) {
    if (!flags || flags & ~(u32)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) || flags == MCL_ONFAULT)
        return -EINVAL;
    u64 start, end;
    u32 prot;
    for (u64 at = 0; flags & MCL_CURRENT && space_next(at, &start, &end, &prot); at = end) {
        i64 error = prot ? sys3(__NR_mlock2, start, end - start, flags & MCL_ONFAULT ? MLOCK_ONFAULT : 0) : 0;
        if (error)
            return error;
    }
    return 0;
}
