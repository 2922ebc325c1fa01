/* callee.h: small functions, which are translated together with the code that calls them. */
#ifndef RUN_CLIENT_QUICK_CALLEE_H
#define RUN_CLIENT_QUICK_CALLEE_H

#include "run/client/code/quick/cycle.h"

/* True if the server will probably put the code of the function at pc in the place of calls to it (run/protocol/small.h). `look` says where
 * instructions lead; the target of a call is the function, or 0 if it is computed. The server sees more and may decide otherwise; then the loop with
 * the call is given up, like any loop that crosses often. With the arena's lock held. */
bool callee_is_small(u64 pc, StepLook *look);

#endif
