/* above.h: what the run-time of tools asks of folders above it, which have these functions. */
#ifndef RUN_CLIENT_TOOL_ABOVE_H
#define RUN_CLIENT_TOOL_ABOVE_H

#include "base/base.h"

/* Starts `lathe-tools lines` beside the guest, with this socket; false: it cannot be started. Of code/server/spawn.c. */
bool tool_start_helper(int socket);

#endif
