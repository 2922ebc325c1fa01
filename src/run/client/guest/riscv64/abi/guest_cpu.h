/* guest_cpu.h: the state of a riscv64 guest, and the roles of its registers in Linux's ABI. */
#ifndef GUEST_CPU_H
#define GUEST_CPU_H

#include "base/base.h"
#include "lathe/types.h"

typedef LatheRiscv64Cpu GuestCpu;

enum { GUEST_INSN_BYTES = 12 };   /* the most bytes that decoding examines */
enum { GUEST_SYSCALL_BYTES = 4 }; /* length of the instruction for a system call */
enum { GUEST_BREAK_BYTES = 0 };   /* how far pc is behind a breakpoint when it traps */
/* Quick code notes lengths of instructions in this unit, in so many bits, and has at most so many bytes for one. */
enum { GUEST_LENGTH_UNIT = 1, GUEST_LENGTH_BITS = 4, GUEST_CODE_BYTES = 384 };

enum { REG_RA = 1, REG_SP = 2, REG_TP = 4, REG_FP = 8, REG_A0 = 10, REG_A7 = 17 };

/* For tools: how many general registers there are, and which ones are the stack pointer and what a function returns, by the numbers of the instruction set. */
enum { GUEST_REGISTERS = 32, GUEST_SP = REG_SP, GUEST_RESULT = REG_A0 };
/* And those with the return address and of the frame pointer. */
enum { GUEST_LINK = REG_RA, GUEST_FRAME = REG_FP };

static inline u64 guest_number(const GuestCpu *c) {
    return c->x[REG_A7];
}

static inline void guest_arguments(const GuestCpu *c, u64 a[6]) {
    for (int i = 0; i < 6; i++)
        a[i] = c->x[REG_A0 + i];
}

static inline void guest_set_result(GuestCpu *c, u64 result) {
    c->x[REG_A0] = result;
}

static inline u64 guest_sp(const GuestCpu *c) {
    return c->x[REG_SP];
}

static inline void guest_set_sp(GuestCpu *c, u64 sp) {
    c->x[REG_SP] = sp;
}

/* A general register by its number in the instruction set; 0: there is none of that number. */
static inline u64 guest_register(const GuestCpu *c, u32 number) {
    return number < 32 ? c->x[number] : 0;
}

static inline u64 guest_segment(const GuestCpu *c, u32 segment) {
    return (void)c, (void)segment, 0;
}

static inline void guest_set_register(GuestCpu *c, u32 number, u64 value) {
    if (number && number < 32)
        c->x[number] = value;
}

/* The number of the register in which a function that is being called finds its nth argument; GUEST_REGISTERS: it is in memory, at guest_stack_argument. */
static inline u32 guest_argument_register(u32 index) {
    return index < 8 ? REG_A0 + index : GUEST_REGISTERS;
}

static inline u64 guest_stack_argument(const GuestCpu *c, u32 index) {
    return c->x[REG_SP] + 8 * ((u64)index - 8);
}

static inline u64 guest_result(const GuestCpu *c) {
    return c->x[REG_A0];
}

/* The initial values that are not zero. */
static inline void guest_reset(GuestCpu *c) {
    c->reserved_address = ~(u64)0;
}

static inline void guest_set_tls(GuestCpu *c, u64 tls) {
    c->x[REG_TP] = tls;
}

#endif
