/* cycle.h: loops whose code is not in one piece. */
#ifndef RUN_CLIENT_QUICK_CYCLE_H
#define RUN_CLIENT_QUICK_CYCLE_H

#include "run/client/code/quick/quick.h"

typedef enum StepKind {
    STEP_ON,     /* to `next` */
    STEP_BRANCH, /* to `target` or `next` */
    STEP_JUMP,   /* to `target` */
    STEP_CALL,   /* leaves for `target` (0: it is computed), and comes back to `next` */
    STEP_RETURN, /* leaves the function */
    STEP_END,    /* leaves otherwise: a computed jump, what optimised code does not have */
} StepKind;

typedef struct Step {
    StepKind kind;
    u64 next, target;
} Step;

/* The guest instruction at pc; false: there is none. */
typedef bool StepLook(u64 pc, Step *step);

/* Of loops around pc, each of which has calls between its two ends: the head of the first one that has a way from there over pc and back
 * without calls; 0: there is none. Parts of the way may lie anywhere, with other code between them, and calls may be in branches that
 * are out of line. A call that lies in the way, with a branch around it, is taken for one that is made if pc is behind both. Under the arena's lock. */
u64 loops_scattered(const QuickLoop *loops, u32 count, u64 pc, StepLook *look);

#endif
