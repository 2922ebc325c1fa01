/* start.S: the client's first instruction: hand the kernel's stack to C. */
    .text
    .globl _start
    .hidden _start
    .type _start, %function
_start:
    .cfi_startproc
    .cfi_undefined x30
    mov x29, #0
    mov x30, #0
    mov x0, sp
    bl start_c
    brk #0
    .cfi_endproc
    .size _start, . - _start

    .section .note.GNU-stack, "", %progbits
