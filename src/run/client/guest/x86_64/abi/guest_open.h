/* guest_open.h: the flags of open(2); x86-64 has those of the host. */
#ifndef GUEST_OPEN_H
#define GUEST_OPEN_H

#include "base/base.h"

static inline u64 host_open_flags(u64 flags) {
    return flags;
}

static inline u64 guest_open_flags(u64 flags) {
    return flags;
}

#endif
