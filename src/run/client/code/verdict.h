/* verdict.h: is optimised code a gain? See verdict.c. */
#ifndef RUN_CLIENT_VERDICT_H
#define RUN_CLIENT_VERDICT_H

#include "run/client/core/client.h"

/* In the handler of a sample's signal: the thread was interrupted at this host address. */
void verdict_note(Thread *t, u64 host);
/* With the arena's lock held: the samples since the last call stand for this much of the thread's CPU time. Gives up optimised code that has lost too much. */
void verdict_pass(Thread *t, u64 passed_us);
/* Likewise, before it is written down what this run has learned: gives up all that has lost, in a run long enough to say so. */
void verdict_end(void);

#endif
