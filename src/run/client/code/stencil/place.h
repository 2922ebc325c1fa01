/* place.h: code beside the blocks that stencils need. */
#ifndef RUN_CLIENT_QUICK_STENCIL_PLACE_H
#define RUN_CLIENT_QUICK_STENCIL_PLACE_H

#include "base/base.h"

/* Is this host address on the way between a stencil and a helper? */
bool emit_is_helper(u64 host);

/* stencil_thread.c: all code has been forgotten, so there is none that does not keep what it is to keep. */
void quick_is_anew(void);

/* of stencil.S */
__attribute__((visibility("hidden"))) void quick_trap(void);

#endif
