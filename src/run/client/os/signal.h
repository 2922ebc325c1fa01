/* signal.h: what signal.c and sigcalls.c know together: the guest's handlers, and masks of signals that the host never blocks. */
#ifndef RUN_CLIENT_SIGNAL_H
#define RUN_CLIENT_SIGNAL_H

#include "run/client/core/frame.h"

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
bool signal_restarts(const Thread *t); /* the handler of the signal that waits wants system calls to begin anew (SA_RESTART) */

/* rt_sigprocmask with the guest's whole mask; SYSCALL_RESTART: a signal has to be delivered first, and nothing is changed. old may be
 * any address. */
i64 signal_change_mask(Thread *t, u64 how, const u64 *set, u64 *old);
/* One of those that are held and in the set; false: there is none. */
bool signal_take_held(Thread *t, u64 set, SignalInfo *info);
/* What the mask allows now comes again. */
void signal_release_held(Thread *t);
bool signal_on_altstack(const Thread *t);

/* A signal of the client's own to one of its threads, which the guest can neither block nor see; `mark` says what for. False: the
 * thread is no more. */
bool signal_nudge(const Thread *t, const void *mark);
bool signal_is_nudge(const SignalInfo *info, const void *mark);

#endif
