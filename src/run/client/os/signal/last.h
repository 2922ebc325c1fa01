/* last.h: signals that end a program which a tool watches: see last.c. */
#ifndef RUN_CLIENT_LAST_H
#define RUN_CLIENT_LAST_H

#include "run/client/os/signal/signal.h"

/* Is the host's handler for this signal the client's where the guest has none? */
bool last_watches(u32 sig);
/* In the host's handler: the signal was noted, and is to be delivered soon. */
void last_expect(Thread *t, u32 sig);
/* It is being delivered. */
void last_came(Thread *t);
/* Is this the signal of the timer that last_expect has set? last_overdue returns if the thread may go on. */
bool last_is_overdue(const Thread *t, const SignalInfo *info);
void last_overdue(Thread *t, const SignalContext *s);
/* Ends the process by a signal, after what the tool does at the end. */
_Noreturn void last_end(Thread *t, u32 sig);

#endif
