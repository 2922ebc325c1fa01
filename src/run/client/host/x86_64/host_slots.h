/* host_slots.h: macros that move the guest registers which optimised code has in host registers to a Thread, and back. */
/* clang-format off */
#ifndef RUN_CLIENT_HOST_SLOTS_H
#define RUN_CLIENT_HOST_SLOTS_H

#include "host_offsets.h"

#define SAVE_FLOAT(n) MOVE_FLOAT %xmm##n, CPU_FLOAT_SLOT(n)(\base);
#define LOAD_FLOAT(n) MOVE_FLOAT CPU_FLOAT_SLOT(n)(\base), %xmm##n;

.macro save_floats base
    EACH_FLOAT_SLOT(SAVE_FLOAT)
.endm

.macro load_floats base
    EACH_FLOAT_SLOT(LOAD_FLOAT)
.endm

.macro save base
    mov %rax, CPU_SLOT(0)(\base)
    mov %rcx, CPU_SLOT(1)(\base)
    mov %rdx, CPU_SLOT(2)(\base)
    mov %rdi, CPU_SLOT(3)(\base)
    mov %rsi, CPU_SLOT(4)(\base)
    mov %r8,  CPU_SLOT(5)(\base)
    mov %r9,  CPU_SLOT(6)(\base)
    mov %r12, CPU_SLOT(7)(\base)
    mov %r13, CPU_SLOT(8)(\base)
    mov %r14, CPU_SLOT(9)(\base)
    save_floats \base
.endm

.macro restore base
    mov CPU_SLOT(0)(\base), %rax
    mov CPU_SLOT(1)(\base), %rcx
    mov CPU_SLOT(2)(\base), %rdx
    mov CPU_SLOT(3)(\base), %rdi
    mov CPU_SLOT(4)(\base), %rsi
    mov CPU_SLOT(5)(\base), %r8
    mov CPU_SLOT(6)(\base), %r9
    mov CPU_SLOT(7)(\base), %r12
    mov CPU_SLOT(8)(\base), %r13
    mov CPU_SLOT(9)(\base), %r14
    load_floats \base
.endm

#endif
