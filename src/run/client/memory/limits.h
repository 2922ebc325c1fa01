/* limits.h: limits of memory; see limits.c. */
#ifndef RUN_CLIENT_LIMITS_H
#define RUN_CLIENT_LIMITS_H

#include "run/client/core/client.h"
#include "run/client/memory/ranges.h"

/* Before there is any memory: what the kernel has, or what exec has handed on, is the guest's now. */
void limits_init(void);
/* For the.opt.limits of a client that exec starts. */
Limits limits_to_hand_on(const Limits *l);
/* The kernel's limits are the guest's for now, because exec starts a program without a client; and again the client's, since that has
 * failed. for_good: the hard limits, too, which most users cannot raise again. */
void limits_leave_to_host(const Limits *l, bool for_good);
void limits_take_back(void);
/* The client's large pieces of memory have these sizes where the kernel does not limit them, and less where it does. */
static inline u64 limits_scaled(u64 size) {
    return size >> the.memory.scale;
}

/* For a process that is not the guest: all limits of the kernel's as high as they may be, that of the stack as usual. */
void limits_raise_all(void);

/* Says which limit of the kernel's, that could not be raised, is too small for the client itself, if one is. */
void limits_explain(void);

/* Bytes of the guest's memory as the kernel counts them: all, private memory that can be written to but for the stack, and the stack. */
typedef struct LimitsUse {
    u64 space, data, stack;
} LimitsUse;
LimitsUse limits_use(const Ranges *guest);

/* With the table of the guest's memory: may `more` bytes with this value come, in place of what is in [start, end)? */
bool limits_allow(const Ranges *guest, u64 more, u32 value, u64 start, u64 end);
/* May private memory in [start, end) become writable? */
bool limits_allow_data(const Ranges *guest, u64 start, u64 end);

/* prlimit64 and mlockall of the guest, without the client's memory. */
i64 limits_call(Thread *t, int pid, u32 resource, u64 set, u64 old);
i64 limits_lock_all(u32 flags);
enum {
    DESCRIPTOR_AWAY = 1000
}; /* a guest does not expect a descriptor of its own to have this number, or a higher one */
/* A copy of a descriptor of the client's, with a number that the guest does not get if that can be; negative errno. */
i64 limits_dup_away(int fd);
bool limits_allow_file(u64 size); /* may the client write a file of that size? */

#endif
