/* guest_cpu.h: the state of an aarch64 guest, and the roles of its registers in Linux's ABI. */
#ifndef GUEST_CPU_H
#define GUEST_CPU_H

#include "base/base.h"
#include "lathe/types.h"

typedef LatheAarch64Cpu GuestCpu;

enum { GUEST_INSN_BYTES = 8 };    /* the most bytes that decoding examines */
enum { GUEST_SYSCALL_BYTES = 4 }; /* length of the instruction for a system call */
enum { GUEST_BREAK_BYTES = 0 };   /* how far pc is behind a breakpoint when it traps */
/* Quick code notes lengths of instructions in this unit, in so many bits, and has at most so many bytes for one. */
enum { GUEST_LENGTH_UNIT = 4, GUEST_LENGTH_BITS = 2, GUEST_CODE_BYTES = 1408 };

enum { REG_NUMBER = 8, REG_FP = 29, REG_LR = 30, REG_SP = 31 };

/* For tools: how many general registers there are, and which ones are the stack pointer and what a function returns, by the numbers that views have. */
enum { GUEST_REGISTERS = 32, GUEST_SP = REG_SP, GUEST_RESULT = 0 };
/* And those with the return address and of the frame pointer. */
enum { GUEST_LINK = REG_LR, GUEST_FRAME = REG_FP };

/* The flags as PSTATE has them, for signal frames and debuggers. */
static inline u32 guest_pstate(const GuestCpu *c) {
    return (u32)c->n << 31 | (u32)c->z << 30 | (u32)c->c << 29 | (u32)c->v << 28;
}

static inline void guest_set_pstate(GuestCpu *c, u64 pstate) {
    c->n = pstate >> 31 & 1, c->z = pstate >> 30 & 1, c->c = pstate >> 29 & 1, c->v = pstate >> 28 & 1;
}

static inline u64 guest_number(const GuestCpu *c) {
    return (u32)c->x[REG_NUMBER];
}

static inline void guest_arguments(const GuestCpu *c, u64 a[6]) {
    for (int i = 0; i < 6; i++)
        a[i] = c->x[i];
}

static inline void guest_set_result(GuestCpu *c, u64 result) {
    c->x[0] = result;
}

static inline u64 guest_sp(const GuestCpu *c) {
    return c->sp;
}

static inline void guest_set_sp(GuestCpu *c, u64 sp) {
    c->sp = sp;
}

/* A general register by its number; 0: there is none of that number. */
static inline u64 guest_register(const GuestCpu *c, u32 number) {
    return number < REG_SP ? c->x[number] : number == REG_SP ? c->sp : 0;
}

static inline u64 guest_segment(const GuestCpu *c, u32 segment) {
    return (void)c, (void)segment, 0;
}

static inline void guest_set_register(GuestCpu *c, u32 number, u64 value) {
    if (number < REG_SP)
        c->x[number] = value;
    else if (number == REG_SP)
        c->sp = value;
}

/* The number of the register in which a function that is being called finds its nth argument; GUEST_REGISTERS: it is in memory, at guest_stack_argument. */
static inline u32 guest_argument_register(u32 index) {
    return index < 8 ? index : GUEST_REGISTERS;
}

static inline u64 guest_stack_argument(const GuestCpu *c, u32 index) {
    return c->sp + 8 * ((u64)index - 8);
}

static inline u64 guest_result(const GuestCpu *c) {
    return c->x[0];
}

/* The initial values that are not zero. */
static inline void guest_reset(GuestCpu *c) {
    c->reserved_address = ~(u64)0;
}

static inline void guest_set_tls(GuestCpu *c, u64 tls) {
    c->tpidr = tls;
}

#endif
