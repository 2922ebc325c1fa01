/* host_memory.h: blocks of bytes by the CPU's string instructions, which are fast on every CPU of the last decade for all but tiny sizes, and need no
 * vector registers: those have the guest's values. */
#ifndef RUN_CLIENT_HOST_MEMORY_H
#define RUN_CLIENT_HOST_MEMORY_H

#include "base/base.h"

/* Copies from the lowest address up. */
static inline void host_copy(void *to, const void *from, size_t size) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static inline void host_fill(void *to, int byte, size_t size) {
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
}

#endif
