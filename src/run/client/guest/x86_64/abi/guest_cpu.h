/* guest_cpu.h: the state of an x86-64 guest, and the roles of its registers in Linux's ABI. */
#ifndef GUEST_CPU_H
#define GUEST_CPU_H

#include "base/base.h"
#include "lathe/types.h"

typedef LatheX86Cpu GuestCpu;

void guest_cpuid(GuestCpu *cpu); /* cpuid.c: called by translated code, with the complete state */
bool guest_has_only_rows(void); /* cpuid.c: the guest's processor has only instructions for which the lifter has rows */

enum { GUEST_INSN_BYTES = 15 };   /* the most bytes that decoding examines */
enum { GUEST_SYSCALL_BYTES = 2 }; /* length of the instruction for a system call */
enum { GUEST_BREAK_BYTES = 1 };   /* how far pc is behind a breakpoint when it traps */
/* Quick code notes lengths of instructions in this unit, in so many bits, and has at most so many bytes for one. */
enum { GUEST_LENGTH_UNIT = 1, GUEST_LENGTH_BITS = 4, GUEST_CODE_BYTES = 384 };

/* For tools: how many general registers there are, and which ones are the stack pointer and what a function returns, by the numbers of the instruction set. */
enum { GUEST_REGISTERS = 16, GUEST_SP = LATHE_RSP, GUEST_RESULT = LATHE_RAX };

static inline u64 guest_number(const GuestCpu *c) {
    return (u32)c->gp[LATHE_RAX];
}

static inline void guest_arguments(const GuestCpu *c, u64 a[6]) {
    a[0] = c->gp[LATHE_RDI], a[1] = c->gp[LATHE_RSI], a[2] = c->gp[LATHE_RDX];
    a[3] = c->gp[LATHE_R10], a[4] = c->gp[LATHE_R8], a[5] = c->gp[LATHE_R9];
}

static inline void guest_set_result(GuestCpu *c, u64 result) {
    c->gp[LATHE_RAX] = result;
}

static inline u64 guest_sp(const GuestCpu *c) {
    return c->gp[LATHE_RSP];
}

static inline void guest_set_sp(GuestCpu *c, u64 sp) {
    c->gp[LATHE_RSP] = sp;
}

/* A general register by its number in the instruction set; 0: there is none of that number. */
static inline u64 guest_register(const GuestCpu *c, u32 number) {
    return number < 16 ? c->gp[number] : 0;
}

/* Where a segment begins, by its number in isa/x86_64/facts.h: fs is 1, gs is 2. */
static inline u64 guest_segment(const GuestCpu *c, u32 segment) {
    return segment == 1 ? c->fsbase : segment == 2 ? c->gsbase : 0;
}

static inline void guest_set_register(GuestCpu *c, u32 number, u64 value) {
    if (number < 16)
        c->gp[number] = value;
}

/* The number of the register in which a function that is being called finds its nth argument; GUEST_REGISTERS: it is in memory, at guest_stack_argument. */
static inline u32 guest_argument_register(u32 index) {
    static const u8 registers[] = {LATHE_RDI, LATHE_RSI, LATHE_RDX, LATHE_RCX, LATHE_R8, LATHE_R9};
    return index < ARRAY_LEN(registers) ? registers[index] : GUEST_REGISTERS;
}

static inline u64 guest_stack_argument(const GuestCpu *c, u32 index) {
    return c->gp[LATHE_RSP] + 8 + 8 * ((u64)index - 6) /* behind the return address */;
}

static inline u64 guest_result(const GuestCpu *c) {
    return c->gp[LATHE_RAX];
}

/* The initial values that are not zero. */
static inline void guest_reset(GuestCpu *c) {
    c->mxcsr = 0x1f80;
    c->fpu_cw = 0x37f;
}

/* fs of the guest is the host's, which the kernel sets when it starts a thread. */
static inline void guest_set_tls(GuestCpu *c, u64 tls) {
    c->fsbase = tls;
}

#endif
