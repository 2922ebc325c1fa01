/* events.h: what happens to the guest while its code runs but concerns the operating system: system calls, traps,
 * signals. The folder os has these functions; the folder code, which lies below it, calls them. */
#ifndef RUN_CLIENT_EVENTS_H
#define RUN_CLIENT_EVENTS_H

#include "run/client/core/client.h"

/* The signal by which the client takes samples of where a thread is and learns of messages from the server. No program
 * uses it. */
enum { TIER_SIGNAL = 16 };

/* A pseudo result of system calls, like SYSCALL_RESTART: the guest's registers are set already. */
enum { SYSCALL_NO_RESULT = -513 };

/* Called by translated code with the whole state in *cpu; pc is behind the instruction. */
void guest_syscall(GuestCpu *cpu);
/* A trap of translated code (cpu->trap) becomes a signal of the guest. Returns if the guest goes on. */
void signal_trap(Thread *t);
/* Delivers the noted signal, if there is one, by changing the guest's state. */
void signal_deliver(Thread *t);

/* Sends a thread of the client a signal that the guest can neither block nor see; `mark` says what it is for. Returns
 * false if the thread no longer exists. */
bool signal_nudge(Thread *t, const void *mark);
struct SignalInfo;
bool signal_is_nudge(const struct SignalInfo *info, const void *mark);

#endif
