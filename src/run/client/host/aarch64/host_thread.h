/* host_thread.h: aarch64 Linux has one thread pointer, which is the client's: guests have theirs in their state. */
#ifndef RUN_CLIENT_HOST_THREAD_H
#define RUN_CLIENT_HOST_THREAD_H

#include "base/base.h"

/* The word at a constant offset from the client's thread pointer. */
#define host_thread_word(offset)                                                                                       \
    ({                                                                                                                 \
        u64 word_;                                                                                                     \
        __asm__("mrs %0, tpidr_el0\n\tldr %0, [%0, %1]" : "=&r"(word_) : "i"(offset));                                 \
        word_;                                                                                                         \
    })

static inline void host_set_thread(void *thread) {
    __asm__ volatile("msr tpidr_el0, %0" : : "r"(thread) : "memory");
}

/* Called in a loop that waits for another thread to change something. */
static inline void host_relax(void) {
    __asm__ volatile("yield");
}

#endif
