/* guest_cpu.h: the state of a riscv64 guest, and the roles of its registers in Linux's ABI. */
#ifndef GUEST_CPU_H
#define GUEST_CPU_H

#include "base/base.h"
#include "lathe/types.h"

typedef LatheRiscv64Cpu GuestCpu;

enum { GUEST_INSN_BYTES = 12 };   /* the most bytes that decoding examines */
enum { GUEST_SYSCALL_BYTES = 4 }; /* length of the instruction for a system call */
enum { GUEST_BREAK_BYTES = 0 };   /* how far pc is behind a breakpoint when it traps */

enum { RV_RA = 1, RV_SP = 2, RV_TP = 4, RV_A0 = 10, RV_A7 = 17 };

static inline u64 guest_number(const GuestCpu *c) {
    return c->x[RV_A7];
}

static inline void guest_arguments(const GuestCpu *c, u64 a[6]) {
    for (int i = 0; i < 6; i++)
        a[i] = c->x[RV_A0 + i];
}

static inline void guest_set_result(GuestCpu *c, u64 result) {
    c->x[RV_A0] = result;
}

static inline u64 guest_sp(const GuestCpu *c) {
    return c->x[RV_SP];
}

static inline void guest_set_sp(GuestCpu *c, u64 sp) {
    c->x[RV_SP] = sp;
}

/* The initial values that are not zero. */
static inline void guest_reset(GuestCpu *c) {
    c->reserved_address = ~(u64)0;
}

static inline void guest_set_tls(GuestCpu *c, u64 tls) {
    c->x[RV_TP] = tls;
}

#endif
