/* host_thread.h: riscv64 Linux has one thread pointer, which is the client's: guests have theirs in their state. */
#ifndef RUN_CLIENT_HOST_THREAD_H
#define RUN_CLIENT_HOST_THREAD_H

#include "base/base.h"

/* The word at a constant offset from the client's thread pointer, which may be more than an instruction has room for. */
#define host_thread_word(offset)                                                                                       \
    ({                                                                                                                 \
        u64 word_;                                                                                                     \
        __asm__("li %0, %1\n\tadd %0, %0, tp\n\tld %0, 0(%0)" : "=&r"(word_) : "i"(offset));                           \
        word_;                                                                                                         \
    })

static inline void host_set_thread(void *thread) {
    __asm__ volatile("mv tp, %0" : : "r"(thread) : "memory");
}

/* Called in a loop that waits for another thread to change something: "pause", which is a fence that orders nothing where there is no such instruction. */
static inline void host_relax(void) {
    __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010");
}

#endif
