/* signal.h: the guest's signals: its system calls about them (sigcalls.c), and what other parts of the client call. */
#ifndef RUN_CLIENT_SIGNAL_H
#define RUN_CLIENT_SIGNAL_H

#include "run/client/core/frame.h"

/* Notes a signal that the guest cannot defer, such as one of a fault. Returns false if another signal is noted already,
 * which has to be delivered first. If the guest blocks the signal or has no handler for it, the process dies. */
bool signal_force(Thread *t, const SignalInfo *info);
_Noreturn void signal_die(int sig); /* ends this process by the signal */
/* The same, with the guest's registers in a core file; its state is complete. */
_Noreturn void signal_die_showing(Thread *t, const SignalInfo *info);
/* The guest sends this thread a signal. If the kernel ends the process for it and writes a core file, makes it do so with the guest's registers, and does not return. */
void signal_end_by_guest(Thread *t, u32 sig);
i64 signal_action(Thread *t, u64 sig, u64 act, u64 old, u64 size);
i64 signal_altstack(Thread *t, u64 stack, u64 old);
i64 signal_procmask(Thread *t, u64 how, u64 set, u64 old, u64 size);
i64 signal_pending(Thread *t, u64 set, u64 size);
/* System calls during which another mask is in force. The mask is an argument followed by its size (signal_suspended),
 * or the sixth argument points to both (signal_suspended_by), or it is in the arguments of io_uring_enter
 * (signal_suspended_ring). */
i64 signal_suspended(Thread *t, u64 number, const u64 args[6], u32 mask_at);
i64 signal_suspended_by(Thread *t, u64 number, const u64 args[6]);
i64 signal_suspended_ring(Thread *t, const u64 args[6]);
i64 signal_timedwait(Thread *t, u64 set, u64 info, u64 timeout, u64 size);
i64 signal_descriptor(Thread *t, u64 number, const u64 args[6]); /* signalfd */
/* for the first thread: installs the client's handlers, and takes over what the program before exec left ignored or
 * blocked */
void signal_init(Thread *t);
i64 signal_return(Thread *t);
/* Before and after exec: the new program must inherit the guest's masks and ignored signals, not the client's. */
void signal_before_exec(Thread *t);
void signal_after_exec(Thread *t); /* exec has failed */
void signal_after_fork(Thread *t); /* called in the child */
/* Makes the child thread share the parent's handlers. Returns false if there is no memory. */
bool signal_share(Thread *child, Thread *parent);
/* Gives a child that shares memory but not the guest's handlers (vfork) a copy of them. Returns false if there is no
 * memory. */
bool signal_copy(Thread *child, const Thread *parent);
void signal_forget(Thread *t); /* t has ended: frees its table */

/* ------------------------------------------------------------------------------------------- between the files of this folder */

enum { SIGNALS = 64 };

typedef struct SignalState {
    /* held while the table changes, or while a whole Action is read; the host's handlers read single fields without it */
    u32 lock;
    Action action[SIGNALS + 1]; /* a handler of 0 means: the guest has none, and the host's action is the guest's */
} SignalState;

static inline u64 signal_bit(u32 sig) {
    return (u64)1 << (sig - 1);
}

/* The signals whose handler on the host is always the client's, whatever the guest does with them. The host never
 * blocks them. */
u64 signal_ours(void);
u64 signal_faults(void); /* of these, the ones that faults raise */
bool signal_is_fault(u32 sig);
/* The signals in signal_ours() that the guest blocks now. */
u64 signal_blocked_now(const Thread *t);

SignalState *signal_table(Thread *t);              /* made when first used; NULL if there is no memory */
bool signal_has_handler(const Thread *t, u32 sig); /* of the guest's */
i64 signal_set_host_handler(u32 sig, u64 flags);
void signal_set_host_default(u32 sig);
/* True if the handler of the noted signal wants system calls to begin anew (SA_RESTART). */
bool signal_restarts(const Thread *t);

/* rt_sigprocmask for the guest's whole mask. SYSCALL_RESTART: a signal has to be delivered first, and nothing was changed. `old` may be
 * any address of the guest. */
i64 signal_change_mask(Thread *t, u64 how, const u64 *set, u64 *old);
/* Puts the guest's mask into force, behind a time in which the host has blocked everything. */
void signal_set_mask(Thread *t, u64 mask);
/* Sends the signal to this thread again, with the same information. If it is blocked, the kernel keeps it. */
void signal_send_again(Thread *t, const SignalInfo *info);
/* Keeps one of the client's signals in the Thread, because the guest blocks it or another one is noted. */
void signal_hold(Thread *t, const SignalInfo *info);
/* Takes one of the held signals that is in `set`. Returns false if there is none. */
bool signal_take_held(Thread *t, u64 set, SignalInfo *info);
/* Sends those held signals again that the guest's mask allows now. */
void signal_release_held(Thread *t);
bool signal_on_altstack(const Thread *t);
/* The si_code of a bad address, as far as the guest is concerned: the client's memory does not exist for it. */
i32 signal_segv_code(u64 addr);
__attribute__((visibility("hidden"))) void fault_with(int sig); /* of guard.S: a real fault of this kind */

#endif
