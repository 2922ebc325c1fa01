/* limits.h: the limits of memory (RLIMIT_AS, RLIMIT_DATA) that hold for the guest; see limits.c. */
#ifndef RUN_CLIENT_LIMITS_H
#define RUN_CLIENT_LIMITS_H

#include "run/client/core/client.h"
#include "run/client/memory/ranges.h"

/* Called before any memory is allocated. Takes over the guest's limits from exec, or from the kernel. */
void limits_init(void);
/* The limits in the form in which the.opt.limits of the client that exec starts has them. */
Limits limits_to_hand_on(const Limits *l);
/* limits_leave_to_host sets the kernel's limits to the guest's, for an exec that starts a program without a client;
 * limits_take_back raises them again if the exec has failed. for_good: sets the hard limits, too, which most users
 * cannot raise again. */
void limits_leave_to_host(const Limits *l, bool for_good);
void limits_take_back(void);
/* The size of one of the client's large pieces of memory: less than `size` if the kernel limits this process. */
static inline u64 limits_scaled(u64 size) {
    return size >> the.memory.scale;
}

/* For a process that is not the guest: raises all of the kernel's limits as far as allowed, and that of the stack to
 * the usual size. */
void limits_raise_all(void);

/* If one of the kernel's limits is too small for the client itself and could not be raised, prints which one
 * and returns true. */
bool limits_explain(void);

/* Bytes of the guest's memory as the kernel counts them: all memory; private writable memory without the stack; the
 * stack. */
typedef struct LimitsUse {
    u64 space, data, stack;
} LimitsUse;
LimitsUse limits_use(const Ranges *guest);

/* True if `more` bytes with this value of the table `guest` may be mapped, in place of the memory in [start, end). */
bool limits_allow(const Ranges *guest, u64 more, u32 value, u64 start, u64 end);
/* True if private memory in [start, end) may become writable. */
bool limits_allow_data(const Ranges *guest, u64 start, u64 end);

/* prlimit64 and mlockall of the guest, which do not count or lock the client's memory. */
i64 limits_call(Thread *t, int pid, u32 resource, u64 set, u64 old);
i64 limits_lock_all(u32 flags);
/* Programs do not expect one of their own descriptors to have this number or a higher one. */
enum { DESCRIPTOR_AWAY = 1000 };
/* Makes a copy of a descriptor for the client, if possible with a number that the guest will not get. Returns it or a
 * negative errno. */
i64 limits_dup_away(int fd);
bool limits_allow_file(u64 size); /* true if the client may write a file of this size */

#endif
