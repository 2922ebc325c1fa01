/* seccomp.h: filters of system calls that the guest has installed. They apply to the guest's calls, never to the
 * client's: the client runs them (bpf.h) before it makes a call for the guest, with the same outcome as in the kernel. */
#ifndef RUN_CLIENT_SECCOMP_H
#define RUN_CLIENT_SECCOMP_H

#include "run/client/os/calls.h"

/* seccomp(2); prctl has the same operations. */
i64 seccomp_call(Thread *t, u64 operation, u64 flags, u64 args);

/* True if the filters allow this call. Otherwise *result is the call's result, which may be SYSCALL_RESTART or
 * SYSCALL_NO_RESULT, or the function does not return because the thread or process was killed. pc is behind the
 * instruction. */
bool seccomp_allows(Thread *t, const GuestCall *c, i64 *result);

void seccomp_inherit(Thread *child, const Thread *parent);
void seccomp_forget(Thread *t); /* t has ended */

/* seccomp_hand_on makes a descriptor with the thread's filters for exec, or returns 0 if it has none, or a negative
 * errno. The new program reads and closes it (seccomp_take_over). */
i64 seccomp_hand_on(const Thread *t);
bool seccomp_take_over(Thread *t, int fd);
/* Before exec of a program that runs without a client: installs the filters in the host's kernel. -EACCES: the filters
 * themselves do not allow that, and nothing was done. */
i64 seccomp_leave_to_host(const Thread *t);

/* The number of filters and the mode of a thread, for /proc. */
typedef struct SeccompFacts {
    u32 mode, filters;
} SeccompFacts;
SeccompFacts seccomp_facts(u32 tid);

#endif
