/* events.h: what happens to the guest while its code runs, and is none of the code's own business. The folder os has these functions; the
 * folder code, which is below it, calls them. */
#ifndef RUN_CLIENT_EVENTS_H
#define RUN_CLIENT_EVENTS_H

#include "run/client/core/client.h"

/* Samples of where a thread is, and news from the server, come by this signal, which no program uses. */
enum { TIER_SIGNAL = 16 };

/* What guest_syscall and its helpers tell each other instead of a result, besides SYSCALL_RESTART. */
enum { SYSCALL_NO_RESULT = -513 };

/* Called by translated code with the whole state in *cpu; pc is behind the instruction. */
void guest_syscall(GuestCpu *cpu);
/* A trap of translated code (cpu->trap): the guest's signal. Returns if the guest goes on. */
void signal_trap(Thread *t);
/* Deliver what is pending, if anything, by changing the guest state. */
void signal_deliver(Thread *t);

/* A signal of the client's own to one of its threads, which the guest can neither block nor see; `mark` says what for. False: the
 * thread is no more. */
bool signal_nudge(const Thread *t, const void *mark);
struct SignalInfo;
bool signal_is_nudge(const struct SignalInfo *info, const void *mark);

#endif
