/* trial.h: calls a function with given arguments, in a process of its own: what it does to its memory and how it ends is seen
 * from here. */
#ifndef CLI_TRIAL_H
#define CLI_TRIAL_H

#include "cli/binopt/prototype.h"

typedef struct Trial {
    u64 result;  /* bits above the size of the type are 0 */
    double ns;   /* of a call, the best of several series */
    int signal;  /* that ended it, or 0 */
    u8 *memory;  /* what was made for the arguments, one after the other, as the first call left it */
    size_t size; /* of memory */
} Trial;

/* Can functions of this type be called? All arguments have to be in registers. */
bool trial_possible(const Prototype *p);

/* One value for each parameter. Their memory is afterwards as it was before. */
Trial trial_run(const Prototype *p, void *function, const Value *args);
void trial_free(Trial *t);

/* The same result, and the same in memory? */
bool trial_equal(const Trial *a, const Trial *b);

#endif
