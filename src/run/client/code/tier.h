/* tier.h: which tier the guest's code is of: see tier.c. */
#ifndef RUN_CLIENT_TIER_H
#define RUN_CLIENT_TIER_H

#include "run/client/core/client.h"

/* Sets the tier, and what of the configuration depends on it, from what the user asked for. */
void tier_choose(Options *o);
/* A tool is loaded. */
void tier_watch(void);
/* A thread begins to run, also after a fork; and it is about to end. */
void tier_begin(Thread *t);
void tier_end(Thread *t);
/* Until tier_begin, the thread gets no signals of samples and of messages. */
void tier_pause(Thread *t);
/* Whether threads besides the first one run optimised code, if there are any. */
bool tier_optimises_threads(void);
/* The guest has a handler for a signal that may come at any time: loops of optimised code have to look for it from now on. */
void tier_use_polls(Thread *t);
/* The guest has installed a handler of such a signal: it sees the state, too. */
void tier_use_handlers(Thread *t);
/* The guest has got a handler of faults, or a tracer. Either sees the exact state, so optimised code is given up, or made anew so that it has it. */
void tier_keep_state(Thread *t);
/* The guest is about to have one more thread, or a process beside it in the same memory (`separate`). Optimised code keeps the order of accesses that
 * the guest's threads count on from now on, and its loops can be left; with --tier=auto, where it cannot do so, there is only quick code. */
void tier_share(Thread *t, bool separate);
/* Is hot code asked of the server, or would it be? */
bool tier_asks(void);
/* Is it ours, or did somebody send it to the guest? */
bool tier_sent(const void *info);
/* In its handler: the thread was interrupted at this host address. */
void tier_note(Thread *t, u64 host);

#endif
