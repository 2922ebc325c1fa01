/* host_open.h: the flags of open(2), as riscv64 Linux has them. */
#ifndef RUN_CLIENT_HOST_OPEN_H
#define RUN_CLIENT_HOST_OPEN_H

#include "run/client/guest/generic/abi/open_flags.h"

enum { HOST_OPEN_ORDER = OPEN_DIRECT_FIRST };

#endif
