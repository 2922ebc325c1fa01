/* open.h: the guest's flags of open(2) as the host has them, and back. */
#ifndef RUN_CLIENT_OPEN_H
#define RUN_CLIENT_OPEN_H

#include "guest_open.h"
#include "host_open.h"

static inline u64 host_open_flags(u64 flags) {
    return open_flags_between(GUEST_OPEN_ORDER, HOST_OPEN_ORDER, flags);
}

static inline u64 guest_open_flags(u64 flags) {
    return open_flags_between(HOST_OPEN_ORDER, GUEST_OPEN_ORDER, flags);
}

#endif
