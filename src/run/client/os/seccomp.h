/* seccomp.h: filters of system calls that the guest has installed. They see the guest's calls, never the client's: the client runs
 * them (bpf.h) before it does a call, with the same outcome as the kernel's. */
#ifndef RUN_CLIENT_SECCOMP_H
#define RUN_CLIENT_SECCOMP_H

#include "run/client/os/calls.h"

/* seccomp(2); prctl has the same operations. */
i64 seccomp_call(Thread *t, u64 operation, u64 flags, u64 args);

/* May the guest do this call? Otherwise *result is its result, which may be SYSCALL_RESTART or SYSCALL_NO_RESULT; or the thread, or the
 * process, has ended. pc is behind the instruction. */
bool seccomp_allows(Thread *t, const GuestCall *c, i64 *result);

void seccomp_inherit(Thread *child, const Thread *parent);
void seccomp_forget(Thread *t); /* t has ended */

/* For exec: a descriptor with the thread's filters, or 0 if it has none, or a negative errno; and in the new program, which closes it. */
i64 seccomp_hand_on(const Thread *t);
bool seccomp_take_over(Thread *t, int fd);
/* For exec of what runs without us: from now on the filters are the host's. -EACCES: that cannot be, and nothing was done. */
i64 seccomp_leave_to_host(const Thread *t);

/* Of a thread, by its number, for people: how many filters there are. */
typedef struct SeccompFacts {
    u32 mode, filters;
} SeccompFacts;
SeccompFacts seccomp_facts(u32 tid);

#endif
