/* places.h: memory for code near the functions it is made from, for one handle.
 *
 * The data that a function refers to is then in reach of 32-bit displacements, and calls of the new code are predicted as well as those of
 * the old: CPUs were seen to take three cycles more if the upper address bits of the target differ. */
#ifndef BINOPT_PLACES_H
#define BINOPT_PLACES_H

#include "codegen/codemem.h"

typedef struct Places {
    VEC(CodeMem *) list; /* the last ones are tried first */
} Places;

/* Memory in reach of the function, which may be full; NULL: the system has none there. */
CodeMem *places_near(Places *p, u64 function);
/* Newly allocated memory in reach of the function. */
CodeMem *places_new(Places *p, u64 function);
/* Memory at any address. */
CodeMem *places_far(Places *p);
void places_free(Places *p);

#endif
