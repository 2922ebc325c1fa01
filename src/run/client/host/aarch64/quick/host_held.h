/* host_held.h: what code/stencil knows of quick code in this host's instructions. */
#ifndef RUN_CLIENT_HOST_HELD_H
#define RUN_CLIENT_HOST_HELD_H

#include "host_put.h"
#include "run/client/code/quick/held.h"

/* Computed addresses are looked up in the tables of the thread. Calls and returns are jumps. */
#define HELD_HAS_MAP false
enum { LOOKUP_JUMP_BYTES = 4 };

#endif
