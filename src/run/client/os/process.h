/* process.h: processes (process.c) and threads (threads.c) of the guest: how they begin and end. */
#ifndef RUN_CLIENT_PROCESS_H
#define RUN_CLIENT_PROCESS_H

#include "run/client/core/client.h"

i64 process_fork(Thread *t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls);
i64 process_exec(Thread *t, const char *path, char **argv, char **envp);
/* Can a client run this file? Which one that is, and its sysroot, goes into the options. */
bool process_runs_here(const char *path, Options *o);
i64 process_clone3(Thread *t, u64 args, u64 size);
_Noreturn void process_exit(Thread *t, int status); /* prints statistics */
i64 process_exit_thread(Thread *t, int status);     /* returns if a signal has to be delivered first */
bool process_leave(
    Thread *t); /* the thread is going to end, and is no longer one of the.threads; false: it is the last one */

Thread *thread_new(u64 host_stack_size); /* NULL: no memory */
void thread_free(Thread *t);             /* not of the thread itself: it is on its stack */
void thread_unlist(Thread *t);           /* from the.threads, under the arena's lock */
void thread_become(Thread *t);           /* this host thread is t from now on */

#endif
