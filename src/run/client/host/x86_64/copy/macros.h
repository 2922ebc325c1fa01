/* macros.h: what quick.S and cross.S share. */
/* clang-format off */
#ifndef RUN_CLIENT_QUICK_MACROS_H
#define RUN_CLIENT_QUICK_MACROS_H

#include "host_offsets.h"
#include "run/client/memory/low.h"

.macro hidden name
    .globl \name
    .hidden \name
\name:
.endm

/* Move the registers that optimised code has in the Thread there, and back. */
.macro save_upper
    mov %r10, %gs:CPU_GP(10)
    mov %r11, %gs:CPU_GP(11)
    mov %r12, %gs:CPU_GP(12)
    mov %r13, %gs:CPU_GP(13)
    mov %r14, %gs:CPU_GP(14)
    mov %r15, %gs:CPU_GP(15)
.endm

.macro load_upper
    mov %gs:CPU_GP(10), %r10
    mov %gs:CPU_GP(11), %r11
    mov %gs:CPU_GP(12), %r12
    mov %gs:CPU_GP(13), %r13
    mov %gs:CPU_GP(14), %r14
    mov %gs:CPU_GP(15), %r15
.endm

#endif
