/* agent_machine.h: the agent's own code in riscv64's instructions, and the kernel's frame of a signal. */
#ifndef ISA_RISCV64_AGENT_MACHINE_H
#define ISA_RISCV64_AGENT_MACHINE_H

#include "agent.h"

typedef uint64_t u64;
typedef uint8_t u8;

/* What fills the memory around the code, and how long the agent's own trap is. */
typedef uint16_t Filler;
enum { FILLER = 0x9002, OWN_TRAP_BYTES = 4 }; /* a short ebreak */

/* The kernel's frame, as far as it is of interest. */
typedef struct Context {
    u64 flags, link, stack[3], mask[16];
    _Alignas(16) u64 regs[32]; /* pc, x1 … x31 */
    u64 f[32];
    uint32_t fcsr;
} Context;

void *memcpy(void *to, const void *from, u64 size);

static inline u64 *context_pc(Context *c) {
    return &c->regs[0];
}

static inline void put_guest(Context *c, const AgentCpu *cpu) {
    c->regs[0] = cpu->pc;
    memcpy(c->regs + 1, cpu->x + 1, 31 * 8);
    memcpy(c->f, cpu->f, 32 * 8);
    c->fcsr = cpu->fflags | (uint32_t)cpu->frm << 5;
}

static inline void get_guest(const Context *c, AgentCpu *cpu) {
    cpu->pc = c->regs[0];
    memcpy(cpu->x + 1, c->regs + 1, 31 * 8);
    memcpy(cpu->f, c->f, 32 * 8);
    cpu->fflags = c->fcsr & 31;
    cpu->frm = (u8)(c->fcsr >> 5 & 7);
}

static inline long call(long n, long a, long b, long c, long d, long e, long f) {
    register long a7 __asm__("a7") = n, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d, a4 __asm__("a4") = e, a5 __asm__("a5") = f;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
    return a0;
}

/* One of the run before would make a store of this one succeed. */
static inline void end_reservation(void) {
    static int word;
    __asm__ volatile("sc.w zero, zero, (%0)" ::"r"(&word) : "memory");
}

static inline void own_trap(void) {
    __asm__ volatile(".option push\n.option norvc\nfence.i\nebreak\n.option pop" ::: "memory");
}

#endif
