/* above.h: what the quick tier tells the optimising tier (code/optimised) and tier.c, which chooses between the two. The quick tier, which is below
 * them, calls these functions; they have them. */
#ifndef RUN_CLIENT_QUICK_ABOVE_H
#define RUN_CLIENT_QUICK_ABOVE_H

#include "run/client/core/client.h"

/* Quick code calls the function at pc for the first time. With the arena's lock held. */
void tier_found(Thread *t, u64 pc);
/* Quick code was made that jumps back to pc, where a loop may begin. With the arena's lock held. */
void tier_found_loop(Thread *t, u64 pc);
/* A sample was taken at t->cpu.pc, or the server has sent something. */
void tier_sample(Thread *t);
/* The guest reads the flags behind a call, and optimised code returns none: with --tier=auto there is only quick code from now on. With the arena's
 * lock held. */
void tier_stop_locked(void);
/* The quick code at pc is forgotten: ways from optimised code to it are looked up anew. With the arena's lock held. */
void code_discard_at(u64 pc);
/* All optimised code is forgotten for good, because the memory of translated code is about to be used again. */
void code_forget_all(void);

#endif
