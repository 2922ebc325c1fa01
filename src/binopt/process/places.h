/* places.h: memory for code near the functions it is made from, for one handle.
 *
 * What a function refers to is then in reach of 32-bit displacements, and its callers predict calls of the new code as well as
 * those of the old: CPUs were seen to take three cycles more where the target's upper address bits are different. */
#ifndef BINOPT_PLACES_H
#define BINOPT_PLACES_H

#include "codegen/codemem.h"

typedef struct Places {
    VEC(CodeMem *) list; /* those at the end are asked first */
} Places;

/* Memory in reach of the function, which may have no room left; NULL: the system gives none there. */
CodeMem *places_near(Places *p, u64 function);
/* The same, with room. */
CodeMem *places_new(Places *p, u64 function);
/* Anywhere. */
CodeMem *places_far(Places *p);
void places_free(Places *p);

#endif
