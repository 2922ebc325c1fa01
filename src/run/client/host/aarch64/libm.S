/* libm.S: what functions of libm expect of the program that they are linked into, and the client is: errno, at an offset from the thread pointer, which is a Thread's address
 * here (the linker counts from 16 bytes behind it), and a word that is put at the ends of frames and compared later. */
#include "host_offsets.h"

    .section .tbss, "awT", %nobits
    .zero THREAD_ERROR - 16
    .globl errno
    .hidden errno
    .type errno, %object
    .size errno, 4
errno:
    .zero 4

    .section .rodata
    .globl __stack_chk_guard
    .hidden __stack_chk_guard
    .type __stack_chk_guard, %object
    .size __stack_chk_guard, 8
    .p2align 3
__stack_chk_guard:
    .quad 0x6c6174686500

    .text
    .globl __stack_chk_fail
    .hidden __stack_chk_fail
    .type __stack_chk_fail, %function
__stack_chk_fail:
    brk #0

    .section .note.GNU-stack, "", %progbits
