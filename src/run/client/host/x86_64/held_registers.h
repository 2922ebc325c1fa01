/* held_registers.h: the host registers that hold guest registers while code of stencils runs (those of src/host/x86_64/stencil.c). For each: the
 * number of the CPU_SLOT that it holds, its name, and its number in instructions. r12, which is a poor base for addresses in instructions, holds the
 * return address. */
/* clang-format off */
#ifndef RUN_CLIENT_HOST_HELD_REGISTERS_H
#define RUN_CLIENT_HOST_HELD_REGISTERS_H

#define EACH_HELD(M)                                                                                                   \
    M(0, rbx, 3) M(1, r10, 10) M(2, rbp, 5) M(3, rdi, 7) M(4, rsi, 6)                                                   \
    M(5, r8, 8) M(6, r9, 9) M(7, r12, 12) M(8, r15, 15) M(9, r14, 14)

#define HELD_LINK %r12 /* what holds CPU_LINK */
#define HELD_LINK_NUMBER 12
#define HELD_STACK %r9 /* what holds the guest's stack pointer */

#endif
