/* process.h: how processes (process.c) and threads (threads.c) of the guest begin and end, and how a process becomes another program (exec.c). */
#ifndef RUN_CLIENT_PROCESS_H
#define RUN_CLIENT_PROCESS_H

#include "run/client/core/client.h"

i64 process_fork(Thread *t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls);
i64 process_exec(Thread *t, const char *path, char **argv, char **envp);
/* True if a client can run this file. Puts the right client and its sysroot into the options. */
bool process_runs_here(const char *path, Options *o);
i64 process_clone3(Thread *t, u64 args, u64 size);
_Noreturn void process_exit(Thread *t, int status); /* also prints statistics */
i64 process_exit_thread(Thread *t, int status);     /* returns only if a signal has to be delivered first */
/* Called when the thread is about to end: moves it from the.threads to the.os.ended. Returns false if it is the last one, which stays where it is. */
bool process_leave(Thread *t);

Thread *thread_new(u64 host_stack_size); /* NULL: no memory */
/* Never called by the thread itself, which is on the stack that is freed. */
void thread_free(Thread *t);
/* Removes the thread from the.threads, under the arena's lock. */
void thread_unlist(Thread *t);
/* Makes this host thread run t from now on. */
void thread_become(Thread *t);

#endif
