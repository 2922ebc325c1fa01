/* host_context.h: what a signal handler finds on its stack, as riscv64 Linux lays it out. */
#ifndef RUN_CLIENT_HOST_CONTEXT_H
#define RUN_CLIENT_HOST_CONTEXT_H

#include "run/client/kernel/kernel_signal.h"

/* ucontext_t of the host, up to the registers for floating point. */
typedef struct SignalContext {
    u64 flags, link;
    u64 stack;
    u32 stack_flags, reserved0;
    u64 stack_size;
    u64 mask;
    u8 reserved1[120];
    __attribute__((aligned(16))) u64 pc;
    u64 x[31]; /* from x1 on */
} SignalContext;

_Static_assert(offsetof(SignalContext, pc) == 176 && sizeof(SignalContext) == 432, "the kernel's layout");

/* ------------------------------------------------------------------------------------------------------------ what is in it */

static inline u64 context_pc(const SignalContext *s) {
    return s->pc;
}

static inline u64 context_sp(const SignalContext *s) {
    return s->x[1];
}

static inline void context_set_pc(SignalContext *s, u64 pc) {
    s->pc = pc;
}

/* There are none. */
static inline u64 context_flags(const SignalContext *s) {
    return (void)s, 0;
}

/* Is it an instruction that stores? The RISC-V manual, tables "RISC-V base opcode map" and "RVC opcode map": STORE, STORE-FP and AMO but for the loads of it; fsd, sw and sd in two forms. */
static inline bool context_stores(u16 low, u16 high) {
    u32 opcode = low & 0x7f;
    bool loads_reserved = high >> 11 == 2;
    bool compressed = (low & 3) != 3;
    return compressed ? !(low & 1) && low >> 13 >= 5
                      : opcode == 0x23 || opcode == 0x27 || (opcode == 0x2f && !loads_reserved);
}

/* Of a fault of an access to memory. The kernel does not tell. The instruction may end where nothing can be read behind it. */
static inline bool context_is_write(const SignalContext *s) {
    const u16 *insn = (const u16 *)s->pc;
    return context_stores(insn[0], (insn[0] & 3) == 3 ? insn[1] : 0);
}

#include "run/client/kernel/plain_context.h"

#endif
