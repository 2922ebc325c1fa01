/* tier.h: which tier runs the guest's code, and what kind of optimised code is made: see tier.c. */
#ifndef RUN_CLIENT_TIER_H
#define RUN_CLIENT_TIER_H

#include "run/client/core/client.h"

/* Sets the tier, and what of the configuration depends on it, from what the user asked for. */
void tier_choose(Options *o);
/* Called when a tool is loaded: adapts the tier to what the tool needs. */
void tier_watch(void);
/* tier_begin starts the timer for samples of a thread that begins to run, also in the child of fork; tier_end ends it. */
void tier_begin(Thread *t);
void tier_end(Thread *t);
/* Until the next tier_begin, the thread gets no signals of samples and of the server's messages. */
void tier_pause(Thread *t);
/* True if threads besides the first one run optimised code, or would run it. */
bool tier_optimises_threads(void);
/* From now on, loops of optimised code look for signals, because one may come at any time for which the guest has a handler. */
void tier_use_polls(Thread *t);
/* The same when the guest installs such a handler, which can see the flags, too. */
void tier_use_handlers(Thread *t);
/* The guest has got a handler of faults, or a tracer, which sees the exact state. So optimised code is given up, or made anew so that it has that state. */
void tier_keep_state(Thread *t);
/* The guest is about to have one more thread, or a process beside it in the same memory (`separate`). From now on, optimised code keeps the order of
 * memory accesses that the guest's threads rely on, and its loops can be left. With --tier=auto, there is only quick code from now on if optimised
 * code does not keep that order already, or if it is a process. */
void tier_share(Thread *t, bool separate);
/* Memory of the guest's may be seen by other processes: with --tier=opt, code keeps the order of accesses from now on. */
void tier_share_memory(void);
/* True if hot code is requested from the server, now or when there is some. */
bool tier_asks(void);
/* True if a signal TIER_SIGNAL with this siginfo is a sample or a message of the server, and was not sent to the guest by somebody. */
bool tier_sent(const void *info);
/* Called in that signal's handler, with the host address at which it has interrupted the thread. */
void tier_note(Thread *t, u64 host);

#endif
