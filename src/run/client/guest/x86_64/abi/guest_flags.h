/* guest_flags.h: converts the flags of an x86-64 guest's state from and to the format of signal contexts, and what else quick code asks of the guest. */
#ifndef GUEST_FLAGS_H
#define GUEST_FLAGS_H

#include "guest_cpu.h"

/* The flags in the guest state as rflags has them, and back. */
u64 frame_flags(const LatheX86Cpu *c);
void frame_set_flags(LatheX86Cpu *c, u64 flags);

/* Sets the registers that the instruction for a system call changes. pc is behind it. */
static inline void guest_enter_call(LatheX86Cpu *c, u64 flags) {
    c->gp[LATHE_RCX] = c->pc;
    c->gp[LATHE_R11] = flags;
}

/* Called for EXIT_SPECIAL. */
static inline void guest_special(LatheX86Cpu *c) {
    guest_cpuid(c);
}

#endif
