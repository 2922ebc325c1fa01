/* verdict.h: whether optimised code is a gain, or is given up again: see verdict.c. */
#ifndef RUN_CLIENT_VERDICT_H
#define RUN_CLIENT_VERDICT_H

#include "run/client/core/client.h"

/* Called in the handler of a sample's signal, with the host address at which it has interrupted the thread. */
void verdict_note(Thread *t, u64 host);
/* With the arena's lock held: books the CPU time of the thread since the last call, and gives up optimised code that has lost too much. */
void verdict_pass(Thread *t, u64 passed_us);
/* With the arena's lock held, before the profile is written: gives up all code that has lost, if it was there long enough to tell. */
void verdict_end(void);

#endif
