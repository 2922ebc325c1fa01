/* tier.h: which tier the guest's code is of: see tier.c. */
#ifndef RUN_CLIENT_TIER_H
#define RUN_CLIENT_TIER_H

#include "run/client/core/client.h"

/* Sets the tier, and what of the configuration depends on it, from what the user asked for. */
void tier_choose(Options *o);
/* A thread begins to run, also after a fork. */
void tier_begin(Thread *t);
/* The guest has a handler for a signal that may come at any time: loops of optimised code have to look for it from now on. */
void tier_use_polls(Thread *t);
/* The guest has got a handler of faults, or a tracer. Either sees the exact state, so optimised code is given up, or made anew so that it has it. */
void tier_keep_state(Thread *t);
/* The guest is about to have a second thread, or something sees its exact state: with --tier=auto there is only quick code from now on; with
 * --tier=opt the optimised code so far is forgotten, and threads leave it. */
void tier_stop(Thread *t);
/* Is it ours, or did somebody send it to the guest? */
bool tier_sent(const void *info);

#endif
