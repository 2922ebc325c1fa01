/* limits.c: limits of memory, which hold for the guest's memory and not for the client's.
 *
 * The client's reservations are far larger than any limit that a guest may have. So the kernel's limits of the address space and of data
 * are raised for this process as far as allowed, and their former values are kept here: the guest sees and changes these, its mappings
 * are checked against them (mapping.c, brk.c), and a program that it starts inherits them. mlockall locks only the guest's memory.
 */
#include "run/client/memory/limits.h"

#include <asm/resource.h>

#include "run/client/memory/load.h"
#include "run/client/memory/space.h"

static const u32 resources[LIMITS_KEPT] = {[LIMIT_SPACE] = RLIMIT_AS, [LIMIT_DATA] = RLIMIT_DATA};

/* The limit if it is kept here; NULL if the kernel has it. */
static Limit *kept(Limits *l, u32 resource) {
    for (u32 i = 0; i < LIMITS_KEPT; i++)
        if (resources[i] == resource)
            return &l->of[i];
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------- the process's */

/* Raises a limit as far as this user may. */
static void raise(u32 resource) {
    Limit now = {RLIM_INFINITY, RLIM_INFINITY};
    if (sys_prlimit(resource, &now.soft, NULL) && !sys_prlimit(resource, NULL, &now.soft)) {
        now.soft = now.hard;
        sys_prlimit(resource, &now.soft, NULL);
    }
}

/* The stack gets its usual limit and not none at all, because the C library gives threads smaller stacks if there is no
 * limit. */
void limits_raise_all(void) {
    enum { USUAL_STACK = 8 << 20 };
    Limit stack;
    for (u32 resource = 0; resource < RLIM_NLIMITS; resource++)
        if (resource != RLIMIT_CORE && resource != RLIMIT_STACK)
            raise(resource);
    if (!sys_prlimit(RLIMIT_STACK, NULL, &stack.soft) && stack.soft < USUAL_STACK) {
        stack.soft = stack.hard < USUAL_STACK ? stack.hard : USUAL_STACK;
        sys_prlimit(RLIMIT_STACK, &stack.soft, NULL);
    }
}

static u64 mib_allowed(u32 resource) {
    Limit limit = {RLIM_INFINITY, RLIM_INFINITY};
    sys_prlimit(resource, NULL, &limit.soft);
    return limit.soft >> 20;
}

/* Chooses the client's sizes so that half of the limited memory is left for the guest. */
static void choose_sizes(void) {
    enum { SPACE_MIB = 3072, DATA_MIB = 160, SCALE_MAX = 4 };
    u64 space = mib_allowed(RLIMIT_AS), data = mib_allowed(RLIMIT_DATA);
    the.memory.limited = space != RLIM_INFINITY >> 20 || data != RLIM_INFINITY >> 20;
    the.memory.explain = the.memory.limited ? limits_explain : NULL;
    while (the.memory.scale < SCALE_MAX &&
           ((u64)SPACE_MIB >> the.memory.scale > space / 2 || (u64)DATA_MIB >> the.memory.scale > data / 2))
        the.memory.scale++;
}

bool limits_explain(void) {
    enum { SPACE_LEAST_MIB = 300, DATA_LEAST_MIB = 32 };
    u64 space = mib_allowed(RLIMIT_AS), data = mib_allowed(RLIMIT_DATA);
    if (space < SPACE_LEAST_MIB)
        say("lathe run needs %d MiB of address space besides the program's; the limit (ulimit -v) is %lu MiB",
            SPACE_LEAST_MIB, space);
    if (data < DATA_LEAST_MIB)
        say("lathe run needs %d MiB of data besides the program's; the limit (ulimit -d) is %lu MiB", DATA_LEAST_MIB,
            data);
    return space < SPACE_LEAST_MIB || data < DATA_LEAST_MIB;
}

/* In the limits that exec hands on, 1 is added to each, so that 0 means that none was handed on. Then the kernel's
 * limit is the guest's. */
void limits_init(void) {
    for (u32 i = 0; i < LIMITS_KEPT; i++) {
        Limit *limit = &the.memory.limits.of[i], given = the.opt.limits.of[i];
        *limit = (Limit){RLIM_INFINITY, RLIM_INFINITY};
        sys_prlimit(resources[i], NULL, &limit->soft);
        if (given.soft)
            limit->soft = given.soft - 1;
        if (given.hard)
            limit->hard = given.hard - 1;
        raise(resources[i]);
    }
    the.opt.limits = (Limits){0};
    choose_sizes();
}

Limits limits_to_hand_on(const Limits *l) {
    Limits written;
    for (u32 i = 0; i < LIMITS_KEPT; i++)
        written.of[i] = (Limit){l->of[i].soft + 1, l->of[i].hard + 1};
    return written;
}

void limits_leave_to_host(const Limits *l, bool for_good) {
    for (u32 i = 0; i < LIMITS_KEPT; i++) {
        Limit now = l->of[i];
        if (for_good || !sys_prlimit(resources[i], NULL, &now.soft)) {
            now.soft = l->of[i].soft;
            sys_prlimit(resources[i], &now.soft, NULL);
        }
    }
}

void limits_take_back(void) {
    for (u32 i = 0; i < LIMITS_KEPT; i++)
        raise(resources[i]);
}

/* -------------------------------------------------------------------------------------------------------- the guest's */

/* The kernel counts as much of a stack as it has grown to. This is the size that a stack begins with. */
enum { STACK_COUNTED = 132 << 10 };

static u64 overlap(u64 start, u64 end, u64 from, u64 to) {
    u64 low = start > from ? start : from, high = end < to ? end : to;
    return low < high ? high - low : 0;
}

/* Bytes in [start, end) that count for the two limits, as in the kernel: for the first all memory, for the second
 * private writable memory without the stack. */
typedef struct Sizes {
    u64 space, data;
} Sizes;

static bool is_data(u32 value) {
    return value & PROT_WRITE && !(value & SPACE_SHARED);
}

static Sizes sizes_of(const Ranges *guest, u64 start, u64 end) {
    Sizes sum = {0};
    for (u32 i = ranges_find(guest, start); i < guest->count && guest->at[i].start < end; i++) {
        const Range *r = &guest->at[i];
        u64 from = r->start > start ? r->start : start, to = r->end < end ? r->end : end;
        u64 stack = overlap(from, to, the.memory.stack_start, the.memory.stack_end);
        sum.space += to - from - (stack > STACK_COUNTED ? stack - STACK_COUNTED : 0);
        sum.data += is_data(r->value) ? to - from - stack : 0;
    }
    return sum;
}

LimitsUse limits_use(const Ranges *guest) {
    Sizes all = sizes_of(guest, 0, ~(u64)0);
    return (LimitsUse){all.space, all.data, STACK_COUNTED};
}

static bool is_limited(void) {
    return the.memory.limits.of[LIMIT_SPACE].soft != RLIM_INFINITY ||
           the.memory.limits.of[LIMIT_DATA].soft != RLIM_INFINITY;
}

static bool is_within(u64 size, u64 limit) {
    return size <= page_down(limit);
}

/* If the soft limit of data is 0, the kernel applies the hard one. */
static bool allows(Sizes size) {
    const Limit *data = &the.memory.limits.of[LIMIT_DATA];
    return is_within(size.space, the.memory.limits.of[LIMIT_SPACE].soft) &&
           is_within(size.data, data->soft ? data->soft : data->hard);
}

bool limits_allow(const Ranges *guest, u64 more, u32 value, u64 start, u64 end) {
    if (!is_limited())
        return true;
    Sizes all = sizes_of(guest, 0, ~(u64)0), gone = sizes_of(guest, start, end);
    return allows((Sizes){all.space - gone.space + more, is_data(value) ? all.data - gone.data + more : 0});
}

bool limits_allow_data(const Ranges *guest, u64 start, u64 end) {
    if (the.memory.limits.of[LIMIT_DATA].soft == RLIM_INFINITY)
        return true;
    u64 more = 0;
    for (u32 i = ranges_find(guest, start); i < guest->count && guest->at[i].start < end; i++)
        if (!(guest->at[i].value & (PROT_WRITE | SPACE_SHARED)))
            more += overlap(guest->at[i].start, guest->at[i].end, start, end);
    Sizes all = sizes_of(guest, 0, ~(u64)0);
    return !more || allows((Sizes){0, all.data + more});
}

/* ----------------------------------------------------------------------------------------------------------- its calls */

static i64 change(Limit *limit, Limit wanted) {
    if (wanted.soft > wanted.hard)
        return -EINVAL;
    if (wanted.hard > limit->hard && sys_geteuid())
        return -EPERM;
    *limit = wanted;
    return 0;
}

/* Passes the call on to the kernel. If the limit of the stack has changed, reads it back and lets the guest's stack
 * grow. */
static i64 pass(bool here, int pid, u32 resource, u64 set, u64 old) {
    Limit now;
    i64 error = sys4(__NR_prlimit64, (u64)(i64)pid, resource, set, old);
    if (!error && set && here && resource == RLIMIT_STACK && !sys_prlimit(resource, NULL, &now.soft))
        stack_grow(now.soft);
    return error;
}

/* Like the kernel, this writes the old limit last. Both addresses are checked before: the kernel writes its own limit
 * to `old`, which fails if the address is bad. */
i64 limits_call(Thread *t, int pid, u32 resource, u64 set, u64 old) {
    bool here = !pid || pid == (int)sys_getpid();
    Limit *limit = here ? kept(t->memory.limits, resource) : NULL, wanted;
    if (!limit)
        return pass(here, pid, resource, set, old);
    if (set && guest_read(set, &wanted, sizeof(wanted)) != sizeof(wanted))
        return -EFAULT;
    i64 error = old ? sys4(__NR_prlimit64, 0, resource, 0, old) : 0;
    Limit before = *limit;
    if (!error && set)
        error = change(limit, wanted);
    if (!error && old)
        memcpy((void *)old, &before, sizeof(before));
    return error;
}

/* The copy gets a number behind the guest's limit, which is raised for a moment: so the guest can have as many descriptors as natively. If the limit
 * cannot be raised, the copy gets one of the last numbers below it, which the guest needs only when it has used all others. If the limit is large
 * already, it is not raised, and the number is DESCRIPTOR_AWAY: with a higher one the kernel's table of descriptors, which fork copies, would become
 * as large. */
i64 limits_dup_away(int fd) {
    enum { LARGE = 4096, MORE = 16, LAST = 4 };
    Limit now = {LARGE, LARGE};
    sys_prlimit(RLIMIT_NOFILE, NULL, &now.soft);
    if (now.soft >= LARGE)
        return sys_fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR_AWAY);
    Limit more = {now.soft + MORE, now.hard > now.soft + MORE ? now.hard : now.soft + MORE};
    if (sys_prlimit(RLIMIT_NOFILE, &more.soft, NULL))
        return sys_fcntl(fd, F_DUPFD_CLOEXEC, now.soft > LAST ? now.soft - LAST : 0);
    i64 copy = sys_fcntl(fd, F_DUPFD_CLOEXEC, now.soft);
    sys_prlimit(RLIMIT_NOFILE, &now.soft, NULL);
    return copy;
}

/* The kernel kills a process that writes a larger file. */
bool limits_allow_file(u64 size) {
    Limit limit = {0};
    return !sys_prlimit(RLIMIT_FSIZE, NULL, &limit.soft) && size <= limit.soft;
}

/* Memory that is mapped later is not locked (MCL_FUTURE). Memory without access has no pages to lock. */
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
