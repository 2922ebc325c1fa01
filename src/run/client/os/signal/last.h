/* last.h: signals that end a program which a tool watches: see last.c. */
#ifndef RUN_CLIENT_LAST_H
#define RUN_CLIENT_LAST_H

#include "run/client/os/signal/signal.h"

/* True if the host's handler for this signal is the client's even if the guest has no handler. */
bool last_watches(u32 sig);
/* Called in the host's handler when the signal was noted: starts a timer, in case it cannot be delivered soon. */
void last_expect(Thread *t, u32 sig);
/* Called when a noted signal is delivered: ends the timer. */
void last_came(Thread *t);
/* last_is_overdue: true if this signal comes from that timer. last_overdue: ends the process, or returns if the thread may go on. */
bool last_is_overdue(const Thread *t, const SignalInfo *info);
void last_overdue(Thread *t, const SignalContext *s);
/* Ends the process by a signal, after what the tool does at the end. */
_Noreturn void last_end(Thread *t, const SignalInfo *info);

#endif
