/* host_thread.h: x86-64 Linux has two thread pointers: fs is the guest's, gs the client's. */
#ifndef RUN_CLIENT_HOST_THREAD_H
#define RUN_CLIENT_HOST_THREAD_H

#include <asm/prctl.h>
#include <asm/unistd.h>

#include "base/base.h"
#include "host_call.h"

/* The word at a constant offset from the client's thread pointer. */
#define host_thread_word(offset)                                                                                       \
    ({                                                                                                                 \
        u64 word_;                                                                                                     \
        __asm__("mov %%gs:%c1, %0" : "=r"(word_) : "i"(offset));                                                       \
        word_;                                                                                                         \
    })

static inline i64 sys_arch_prctl(int code, u64 arg) {
    return sys2(__NR_arch_prctl, (u64)code, arg);
}

static inline void host_set_thread(void *thread) {
    sys_arch_prctl(ARCH_SET_GS, (u64)thread);
}

/* Called in a loop that waits for another thread to change something. */
static inline void host_relax(void) {
    __builtin_ia32_pause();
}

#endif
