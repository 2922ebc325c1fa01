/* idle.h: rewriters that no handle has any more, for the next one: their memory for code is mapped, and the instructions that they
 * execute are copied already. May be called by several threads at once. */
#ifndef BINOPT_MACHINE_IDLE_H
#define BINOPT_MACHINE_IDLE_H

#include "base/base.h"

/* NULL: there is none. */
void *idle_take(void);
/* False: there are enough. */
bool idle_give(void *rewriter);

#endif
