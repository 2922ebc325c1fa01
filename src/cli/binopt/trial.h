/* trial.h: calls a function with given arguments, in a child process, and reports the result, how it ended and what it
 * did to its memory. */
#ifndef CLI_TRIAL_H
#define CLI_TRIAL_H

#include "cli/binopt/prototype.h"

typedef struct Trial {
    u64 result;  /* bits above the size of the type are 0 */
    double ns;   /* time of one call, the best of several series */
    int signal;  /* the signal that ended the child, or 0 */
    u8 *memory;  /* the memory of all arguments, one after the other, as the first call left it */
    size_t size; /* of memory */
} Trial;

/* True if functions of this type can be called: all arguments have to be in registers. */
bool trial_possible(const Prototype *p);

/* args: one value for each parameter. Their memory is restored afterwards. */
Trial trial_run(const Prototype *p, void *function, const TypedValue *args);
void trial_free(Trial *t);

/* True if the results and the memory are equal. */
bool trial_equal(const Trial *a, const Trial *b);

#endif
