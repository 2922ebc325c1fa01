/* guest_cpu.h: the state of a riscv64 guest, and what Linux's ABI has its registers for. */
#ifndef GUEST_CPU_H
#define GUEST_CPU_H

#define CPU_PC 0
#define CPU_X(n) (8 + 8 * (n))
#define CPU_F(n) (264 + 8 * (n))
#define CPU_TRAP 536
#define CPU_LINK CPU_X(1) /* where a function returns to, when it begins */

/* The registers that translated code passes in the host's, in the order of the convention: a0–a5 sp ra s0 s1; fa0–fa7 ft0–ft5 fs0 fs1. */
#define CPU_SLOT(n) CPU_SLOT_##n
#define CPU_SLOT_0 CPU_X(10)
#define CPU_SLOT_1 CPU_X(11)
#define CPU_SLOT_2 CPU_X(12)
#define CPU_SLOT_3 CPU_X(13)
#define CPU_SLOT_4 CPU_X(14)
#define CPU_SLOT_5 CPU_X(15)
#define CPU_SLOT_6 CPU_X(2)
#define CPU_SLOT_7 CPU_X(1)
#define CPU_SLOT_8 CPU_X(8)
#define CPU_SLOT_9 CPU_X(9)
#define CPU_FLOAT_SLOT(n) CPU_FLOAT_SLOT_##n
#define CPU_FLOAT_SLOT_0 CPU_F(10)
#define CPU_FLOAT_SLOT_1 CPU_F(11)
#define CPU_FLOAT_SLOT_2 CPU_F(12)
#define CPU_FLOAT_SLOT_3 CPU_F(13)
#define CPU_FLOAT_SLOT_4 CPU_F(14)
#define CPU_FLOAT_SLOT_5 CPU_F(15)
#define CPU_FLOAT_SLOT_6 CPU_F(16)
#define CPU_FLOAT_SLOT_7 CPU_F(17)
#define CPU_FLOAT_SLOT_8 CPU_F(0)
#define CPU_FLOAT_SLOT_9 CPU_F(1)
#define CPU_FLOAT_SLOT_10 CPU_F(2)
#define CPU_FLOAT_SLOT_11 CPU_F(3)
#define CPU_FLOAT_SLOT_12 CPU_F(4)
#define CPU_FLOAT_SLOT_13 CPU_F(5)
#define CPU_FLOAT_SLOT_14 CPU_F(8)
#define CPU_FLOAT_SLOT_15 CPU_F(9)
#define MOVE_FLOAT movsd

#ifndef __ASSEMBLER__

#include "base/base.h"
#include "lathe/types.h"

typedef LatheRiscv64Cpu GuestCpu;

_Static_assert(offsetof(GuestCpu, x) == CPU_X(0) && offsetof(GuestCpu, f) == CPU_F(0) && offsetof(GuestCpu, trap) == CPU_TRAP,
               "see above");

enum { GUEST_INSN_BYTES = 12 };   /* most that decoding looks at */
enum { GUEST_SYSCALL_BYTES = 4 }; /* of the instruction */
enum { GUEST_BREAK_BYTES = 0 };   /* of a breakpoint, which pc is behind when it traps */

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

/* As a thread finds what is not zero. */
static inline void guest_reset(GuestCpu *c) {
    c->reserved_address = ~(u64)0;
}

static inline void guest_set_tls(GuestCpu *c, u64 tls) {
    c->x[RV_TP] = tls;
}

#endif
#endif
