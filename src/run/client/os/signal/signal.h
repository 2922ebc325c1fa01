/* signal.h: signals of the guest: its system calls about them (sigcalls.c), and what other parts of the client have to do with them. */
#ifndef RUN_CLIENT_SIGNAL_H
#define RUN_CLIENT_SIGNAL_H

#include "run/client/core/frame.h"

/* A signal that the guest cannot put off, as if it were noted; false: one that is noted comes first. The guest dies of it if it has no
 * handler or blocks it. */
bool signal_force(Thread *t, const SignalInfo *info);
_Noreturn void signal_die(int sig); /* this process */
i64 signal_action(Thread *t, u64 sig, u64 act, u64 old, u64 size);
i64 signal_altstack(Thread *t, u64 stack, u64 old);
i64 signal_procmask(Thread *t, u64 how, u64 set, u64 old, u64 size);
i64 signal_pending(Thread *t, u64 set, u64 size);
/* Calls with a mask for their time: an argument, followed by its size, or what the sixth points to, or what io_uring_enter has. */
i64 signal_suspended(Thread *t, u64 number, const u64 args[6], u32 mask_at);
i64 signal_suspended_by(Thread *t, u64 number, const u64 args[6]);
i64 signal_suspended_ring(Thread *t, const u64 args[6]);
i64 signal_timedwait(Thread *t, u64 set, u64 info, u64 timeout, u64 size);
i64 signal_descriptor(Thread *t, u64 number, const u64 args[6]); /* signalfd */
void signal_init(Thread *t); /* the first thread: signals that are ours, and what exec has handed on */
i64 signal_return(Thread *t);
/* Around exec: what it hands on to the new program is the guest's. */
void signal_before_exec(Thread *t);
void signal_after_exec(Thread *t); /* it has failed */
void signal_after_fork(Thread *t); /* in the child */
/* A thread with the same handlers; false: no memory. */
bool signal_share(Thread *child, Thread *parent);
/* A child that shares memory but not the guest's handlers (vfork): its own copy; false: no memory. */
bool signal_copy(Thread *child, const Thread *parent);
void signal_forget(Thread *t); /* t has ended */

/* ------------------------------------------------------------------------------------------- between signal.c and sigcalls.c */

enum { SIGNALS = 64 };

typedef struct SignalState {
    u32 lock;                   /* of changes, and of who needs a whole Action; handlers of the host do without it */
    Action action[SIGNALS + 1]; /* handler 0: no handler, and the host's action is the guest's */
} SignalState;

static inline u64 signal_bit(u32 sig) {
    return (u64)1 << (sig - 1);
}

/* Signals that are the client's on the host, whatever the guest does with them, and never blocked there. */
u64 signal_ours(void);
bool signal_is_fault(u32 sig);

SignalState *signal_table(Thread *t); /* made at its first use; NULL: no memory */
i64 signal_set_host_handler(u32 sig, u64 flags);
bool signal_restarts(
    const Thread *t); /* the handler of the signal that waits wants system calls to begin anew (SA_RESTART) */

/* rt_sigprocmask with the guest's whole mask; SYSCALL_RESTART: a signal has to be delivered first, and nothing is changed. old may be
 * any address. */
i64 signal_change_mask(Thread *t, u64 how, const u64 *set, u64 *old);
/* One of those that are held and in the set; false: there is none. */
bool signal_take_held(Thread *t, u64 set, SignalInfo *info);
/* What the mask allows now comes again. */
void signal_release_held(Thread *t);
bool signal_on_altstack(const Thread *t);

#endif
