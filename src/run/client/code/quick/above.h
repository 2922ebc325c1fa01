/* above.h: what the quick tier tells the optimising tier (code/optimised) and whoever chooses between the two (code/tier.c). They have these
 * functions; the quick tier, which is below them, calls them. */
#ifndef RUN_CLIENT_QUICK_ABOVE_H
#define RUN_CLIENT_QUICK_ABOVE_H

#include "run/client/core/client.h"

/* Quick code calls a function for the first time; with the arena's lock held. */
void tier_found(Thread *t, u64 pc);
/* Likewise: quick code has a jump back to pc. */
void tier_found_loop(Thread *t, u64 pc);
/* A sample was taken at t->cpu.pc, or the server has sent something. */
void tier_sample(Thread *t);
/* The guest makes a call behind which it reads the flags, which optimised code does not return: with --tier=auto there is only quick code from now
 * on. With the arena's lock held. */
void tier_stop_locked(void);
/* The quick code at pc is gone, with the arena's lock held: what led there from optimised code asks anew. */
void code_discard_at(u64 pc);
/* All optimised code is forgotten for good, because the memory of translated code is about to be used again. */
void code_forget_all(void);

#endif
