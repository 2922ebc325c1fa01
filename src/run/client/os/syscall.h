/* syscall.h: what the guest's system calls have besides their rows in syscalls.def. */
#ifndef RUN_CLIENT_SYSCALL_H
#define RUN_CLIENT_SYSCALL_H

#include "run/client/os/calls.h"

/* trace.c: --strace */
void trace_enter(Thread *t, const GuestCall *c);
void trace_exit(Thread *t, const GuestCall *c, i64 result);

i64 landlock_restrict(Thread *t, const u64 args[6]); /* landlock.c: landlock_restrict_self of the guest */

#endif
