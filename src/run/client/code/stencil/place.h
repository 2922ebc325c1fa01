/* place.h: code beside the blocks that stencils need. */
#ifndef RUN_CLIENT_QUICK_STENCIL_PLACE_H
#define RUN_CLIENT_QUICK_STENCIL_PLACE_H

#include "base/base.h"

/* True if the host address is in the code by which stencils call helpers. */
bool emit_is_helper(u64 host);

/* stencil_thread.c: all code was forgotten, so none is stale any more. */
void quick_is_anew(void);

/* of stencil.S */
__attribute__((visibility("hidden"))) void quick_trap(void);

#endif
