/* cycle.h: finds loops whose code is not in one piece. */
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

/* Says where the guest instruction at pc leads. Returns false if there is none. */
typedef bool StepLook(u64 pc, Step *step);

/* `loops` are loops around pc with calls between their head and the jump back. Returns the head of the first loop in which there is a way from the
 * head through pc and back to the head without calls; 0: none has one. Parts of the way may lie anywhere, with other code between them, and calls may
 * be in branches that are out of line. If a branch of the way leads around a call, the call counts as one that is made if pc can be reached behind
 * it, too. With the arena's lock held. */
u64 loops_scattered(const QuickLoop *loops, u32 count, u64 pc, StepLook *look);

#endif
