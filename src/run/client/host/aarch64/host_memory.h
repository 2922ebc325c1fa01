/* host_memory.h: blocks of bytes without vector registers, which have the guest's values. */
#ifndef RUN_CLIENT_HOST_MEMORY_H
#define RUN_CLIENT_HOST_MEMORY_H

#include "base/base.h"

/* From the lowest address up. */
static inline void host_copy(void *to, const void *from, size_t size) {
    u64 first, second;
    __asm__ volatile("subs %2, %2, #16\n\t"
                     "b.lo 2f\n"
                     "1:\tldp %3, %4, [%1], #16\n\t"
                     "stp %3, %4, [%0], #16\n\t"
                     "subs %2, %2, #16\n\t"
                     "b.hs 1b\n"
                     "2:\tadds %2, %2, #16\n\t"
                     "b.eq 4f\n"
                     "3:\tldrb %w3, [%1], #1\n\t"
                     "strb %w3, [%0], #1\n\t"
                     "subs %2, %2, #1\n\t"
                     "b.ne 3b\n"
                     "4:"
                     : "+r"(to), "+r"(from), "+r"(size), "=&r"(first), "=&r"(second)
                     :
                     : "memory", "cc");
}

static inline void host_fill(void *to, int byte, size_t size) {
    u64 word = (u8)byte * (u64)0x0101010101010101;
    __asm__ volatile("subs %1, %1, #16\n\t"
                     "b.lo 2f\n"
                     "1:\tstp %2, %2, [%0], #16\n\t"
                     "subs %1, %1, #16\n\t"
                     "b.hs 1b\n"
                     "2:\tadds %1, %1, #16\n\t"
                     "b.eq 4f\n"
                     "3:\tstrb %w2, [%0], #1\n\t"
                     "subs %1, %1, #1\n\t"
                     "b.ne 3b\n"
                     "4:"
                     : "+r"(to), "+r"(size)
                     : "r"(word)
                     : "memory", "cc");
}

#endif
