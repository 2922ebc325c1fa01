/* start.S: the client's first instruction: hand the kernel's stack to C. */
    .text
    .globl _start
    .hidden _start
    .type _start, %function
_start:
    .cfi_startproc
    .cfi_undefined ra
    .option push
    .option norelax
    lla gp, __global_pointer$
    .option pop
    li s0, 0
    li ra, 0
    mv a0, sp
    andi sp, sp, -16
    call start_c
    unimp
    .cfi_endproc
    .size _start, . - _start

    .section .note.GNU-stack, "", %progbits
