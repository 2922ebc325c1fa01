/* host_call.h: system calls as x86-64 Linux takes them. */
#ifndef RUN_CLIENT_HOST_CALL_H
#define RUN_CLIENT_HOST_CALL_H

#include "base/base.h"

static inline i64 sys6(u64 number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
    i64 result;
    register u64 r10 __asm__("r10") = d;
    register u64 r8 __asm__("r8") = e;
    register u64 r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline i64 sys4(u64 number, u64 a, u64 b, u64 c, u64 d) {
    i64 result;
    register u64 r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}

static inline i64 sys5(u64 number, u64 a, u64 b, u64 c, u64 d, u64 e) {
    return sys6(number, a, b, c, d, e, 0);
}

static inline i64 sys3(u64 number, u64 a, u64 b, u64 c) {
    i64 result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

/* The last two arguments of clone, as x86-64 Linux has them. */
#define HOST_CLONE_ARGUMENTS(child_tid, tls) (child_tid), (tls)

enum { HOST_HAS_RESTORER = true };

#include "run/client/kernel/call_forms.h"

#endif
