/* host_call.h: system calls as aarch64 Linux takes them. */
#ifndef RUN_CLIENT_HOST_CALL_H
#define RUN_CLIENT_HOST_CALL_H

#include <asm/unistd.h>

#include "base/base.h"
#include "run/client/kernel/older_calls.h"

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

enum { HOST_HAS_RESTORER = true };

#include "run/client/kernel/call_by_six.h"
#include "run/client/kernel/call_forms.h"

#endif
