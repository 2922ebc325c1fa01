/* host_call.h: system calls as aarch64 Linux takes them. */
#ifndef RUN_CLIENT_HOST_CALL_H
#define RUN_CLIENT_HOST_CALL_H

#include <asm/unistd.h>

#include "base/base.h"

/* x86-64 Linux has older forms of some system calls besides. The kernel knows nothing of these numbers. */
enum {
    HOST_OLDER = 480,
    __NR_open = HOST_OLDER,
    __NR_stat,
    __NR_access,
    __NR_readlink,
    __NR_dup2,
    __NR_signalfd,
    __NR_pause,
    __NR_select,
    __NR_epoll_wait,
    __NR_poll
};

static inline i64 sys6(u64 number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
    register u64 x8 __asm__("x8") = number;
    register u64 x0 __asm__("x0") = a;
    register u64 x1 __asm__("x1") = b;
    register u64 x2 __asm__("x2") = c;
    register u64 x3 __asm__("x3") = d;
    register u64 x4 __asm__("x4") = e;
    register u64 x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return (i64)x0;
}

static inline i64 sys5(u64 number, u64 a, u64 b, u64 c, u64 d, u64 e) {
    return sys6(number, a, b, c, d, e, 0);
}

static inline i64 sys4(u64 number, u64 a, u64 b, u64 c, u64 d) {
    return sys6(number, a, b, c, d, 0, 0);
}

static inline i64 sys3(u64 number, u64 a, u64 b, u64 c) {
    return sys6(number, a, b, c, 0, 0, 0);
}

/* The last two arguments of clone: aarch64 Linux has them the other way round than x86-64's. */
#define HOST_CLONE_ARGUMENTS(child_tid, tls) (tls), (child_tid)

#include "run/client/kernel/call_forms.h"

#endif
