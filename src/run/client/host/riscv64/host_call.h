/* host_call.h: system calls as riscv64 Linux takes them. */
#ifndef RUN_CLIENT_HOST_CALL_H
#define RUN_CLIENT_HOST_CALL_H

#include <asm/unistd.h>

#include "base/base.h"
#include "run/client/kernel/older_calls.h"

static inline i64 sys6(u64 number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
    register u64 a7 __asm__("a7") = number;
    register u64 a0 __asm__("a0") = a;
    register u64 a1 __asm__("a1") = b;
    register u64 a2 __asm__("a2") = c;
    register u64 a3 __asm__("a3") = d;
    register u64 a4 __asm__("a4") = e;
    register u64 a5 __asm__("a5") = f;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
    return (i64)a0;
}

enum { HOST_HAS_RESTORER = false };

#include "run/client/kernel/call_by_six.h"
#include "run/client/kernel/call_forms.h"

#endif
