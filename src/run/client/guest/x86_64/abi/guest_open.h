/* guest_open.h: the flags of open(2), as x86-64 has them. */
#ifndef GUEST_OPEN_H
#define GUEST_OPEN_H

#include "run/client/guest/generic/abi/open_flags.h"

enum { GUEST_OPEN_ORDER = OPEN_DIRECT_FIRST };

#endif
