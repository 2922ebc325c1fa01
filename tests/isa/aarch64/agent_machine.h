/* agent_machine.h: the agent's own code in aarch64's instructions, and the kernel's frame of a signal. */
#ifndef ISA_AARCH64_AGENT_MACHINE_H
#define ISA_AARCH64_AGENT_MACHINE_H

#include "agent.h"

typedef uint64_t u64;
typedef uint8_t u8;

/* What fills the memory around the code, and how long the agent's own trap is. */
typedef uint32_t Filler;
enum { FILLER = 0xd4200000, OWN_TRAP_BYTES = 4 }; /* brk #0 */

/* The kernel's frame, as far as it is of interest: of the records behind the registers, that of vector registers is the first. */
typedef struct Context {
    u64 flags, link, stack[3], mask[16];
    _Alignas(16) u64 fault;
    u64 x[31], sp, pc, pstate;
    _Alignas(16) uint32_t magic;
    uint32_t bytes, fpsr, fpcr;
    u8 vec[32][16];
} Context;

void *memcpy(void *to, const void *from, u64 size);

static inline u64 *context_pc(Context *c) {
    return &c->pc;
}

/* The thread pointer is in no frame, and nothing here needs it. */
static inline void put_guest(Context *c, const AgentCpu *cpu) {
    c->pc = cpu->pc;
    c->sp = cpu->sp;
    c->pstate &= 0x0fffffff;
    c->pstate |= (u64)cpu->n << 31 | (u64)cpu->z << 30 | (u64)cpu->c << 29 | (u64)cpu->v << 28;
    c->fpcr = cpu->fpcr;
    c->fpsr = cpu->fpsr;
    memcpy(c->x, cpu->x, sizeof(c->x));
    memcpy(c->vec, cpu->vec, sizeof(c->vec));
    __asm__ volatile("msr tpidr_el0, %0" ::"r"(cpu->tpidr));
}

static inline void get_guest(const Context *c, AgentCpu *cpu) {
    cpu->pc = c->pc;
    cpu->sp = c->sp;
    cpu->n = c->pstate >> 31 & 1;
    cpu->z = c->pstate >> 30 & 1;
    cpu->c = c->pstate >> 29 & 1;
    cpu->v = c->pstate >> 28 & 1;
    cpu->fpcr = c->fpcr;
    cpu->fpsr = c->fpsr;
    memcpy(cpu->x, c->x, sizeof(c->x));
    memcpy(cpu->vec, c->vec, sizeof(c->vec));
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(cpu->tpidr));
}

static inline long call(long n, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

/* One of the run before would make a store of this one succeed. */
static inline void end_reservation(void) {
    __asm__ volatile("clrex" ::: "memory");
}

static inline void own_trap(void) {
    __asm__ volatile("dsb ish\n\tisb\n\tbrk #0" ::: "memory");
}

#endif
