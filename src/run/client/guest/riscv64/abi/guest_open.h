/* guest_open.h: the flags of open(2); riscv64 has the host's. */
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
