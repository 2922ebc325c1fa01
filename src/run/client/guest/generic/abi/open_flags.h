/* open_flags.h: the flags of open(2): machines have four of them in one of two orders (GUEST_OPEN_ORDER, HOST_OPEN_ORDER). */
#ifndef GUEST_OPEN_FLAGS_H
#define GUEST_OPEN_FLAGS_H

#include "base/base.h"

enum {
    OPEN_DIRECT_FIRST,    /* bits 14 to 17 are O_DIRECT, O_LARGEFILE, O_DIRECTORY, O_NOFOLLOW: asm-generic's */
    OPEN_DIRECTORY_FIRST, /* they are O_DIRECTORY, O_NOFOLLOW, O_DIRECT, O_LARGEFILE */
};

/* The two pairs change places if the orders differ, which is the same both ways. */
static inline u64 open_flags_between(u32 one, u32 other, u64 flags) {
    enum { FIRST_PAIR = 3 << 14, SECOND_PAIR = 3 << 16 };
    u64 exchanged = (flags & ~(u64)(FIRST_PAIR | SECOND_PAIR)) | (flags & FIRST_PAIR) << 2 | (flags & SECOND_PAIR) >> 2;
    return one == other ? flags : exchanged;
}

#endif
