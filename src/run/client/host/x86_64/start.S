/* start.S: the client's first instruction: hand the kernel's stack to C. */
    .text
    .globl _start
    .hidden _start
    .type _start, @function
_start:
    .cfi_startproc
    .cfi_undefined rip
    xorl %ebp, %ebp
    movq %rsp, %rdi
    andq $-16, %rsp
    call start_c
    ud2
    .cfi_endproc
    .size _start, . - _start

    .section .note.GNU-stack, "", @progbits
