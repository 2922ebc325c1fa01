/* callee.h: functions that are translated together with what calls them. */
#ifndef RUN_CLIENT_QUICK_CALLEE_H
#define RUN_CLIENT_QUICK_CALLEE_H

#include "run/client/code/quick/cycle.h"

/* True if the server will put the function at pc in the place of calls to it (run/protocol/small.h). `look` tells of instructions; calls have the place that is
 * called as their target, or 0. The server sees more and may decide otherwise; then the loop with the call is given up, as any that crosses often. Under the
 * arena's lock. */
bool callee_is_small(u64 pc, StepLook *look);

#endif
