/* syscall.h: parts of the guest's system calls that have files of their own. */
#ifndef RUN_CLIENT_SYSCALL_H
#define RUN_CLIENT_SYSCALL_H

#include "run/client/os/calls.h"

/* trace.c: prints the guest's system calls (--strace). */
void trace_enter(Thread *t, const GuestCall *c);
void trace_exit(Thread *t, const GuestCall *c, i64 result);

/* landlock.c: the guest's landlock_restrict_self */
i64 landlock_restrict(Thread *t, const u64 args[6]);

#endif
