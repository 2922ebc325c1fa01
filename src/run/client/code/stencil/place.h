/* place.h: code beside the blocks that stencils need. */
#ifndef RUN_CLIENT_QUICK_STENCIL_PLACE_H
#define RUN_CLIENT_QUICK_STENCIL_PLACE_H

#include "base/base.h"

/* Is this host address on the way between a stencil and a helper? */
bool emit_is_helper(u64 host);

/* of stencil.S */
__attribute__((visibility("hidden"))) void quick_trap(void);

#endif
