/* host_memory.h: blocks of bytes, by words where both addresses allow it: others may be slow on this host. */
#ifndef RUN_CLIENT_HOST_MEMORY_H
#define RUN_CLIENT_HOST_MEMORY_H

#include "base/base.h"

typedef u64 __attribute__((may_alias)) HostWord;

/* From the lowest address up. */
static inline void host_copy(void *to, const void *from, size_t size) {
    u8 *d = to;
    const u8 *s = from;
    if ((((u64)d ^ (u64)s) & 7) == 0) {
        for (; size && (u64)d & 7; size--)
            *d++ = *s++;
        for (; size >= 8; size -= 8, d += 8, s += 8)
            *(HostWord *)d = *(const HostWord *)s;
    }
    for (; size; size--)
        *d++ = *s++;
}

static inline void host_fill(void *to, int byte, size_t size) {
    u8 *d = to;
    for (; size && (u64)d & 7; size--)
        *d++ = (u8)byte;
    for (; size >= 8; size -= 8, d += 8)
        *(HostWord *)d = (u8)byte * (u64)0x0101010101010101;
    for (; size; size--)
        *d++ = (u8)byte;
}

#endif
