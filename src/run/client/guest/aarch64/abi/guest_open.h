/* guest_open.h: the flags of open(2), of which aarch64 has four in other places. */
#ifndef GUEST_OPEN_H
#define GUEST_OPEN_H

#include "base/base.h"

/* Bits 14–17 are O_DIRECTORY, O_NOFOLLOW, O_DIRECT and O_LARGEFILE here, and O_DIRECT, O_LARGEFILE, O_DIRECTORY and O_NOFOLLOW there: the two pairs change places, which
 * is the same both ways. */
static inline u64 exchanged_open_flags(u64 flags) {
    enum { FIRST_PAIR = 3 << 14, SECOND_PAIR = 3 << 16 };
    return (flags & ~(u64)(FIRST_PAIR | SECOND_PAIR)) | (flags & FIRST_PAIR) << 2 | (flags & SECOND_PAIR) >> 2;
}

static inline u64 host_open_flags(u64 flags) {
    return exchanged_open_flags(flags);
}

static inline u64 guest_open_flags(u64 flags) {
    return exchanged_open_flags(flags);
}

#endif
