/* enter.S: a call that rings (DoorBell in door.h). r11 has the DoorBell; everything else is the function's. */
        .text
        .globl  door_enter
        .hidden door_enter
        .type   door_enter, @function
door_enter:
        .cfi_startproc
        /* All registers that may have arguments, except vectors, which the bell's function leaves alone. The stack is aligned for the call. */
        push    %rax
        .cfi_adjust_cfa_offset 8
        push    %rcx
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        push    %rdi
        .cfi_adjust_cfa_offset 8
        push    %r8
        .cfi_adjust_cfa_offset 8
        push    %r9
        .cfi_adjust_cfa_offset 8
        push    %r10
        .cfi_adjust_cfa_offset 8
        push    %r11
        .cfi_adjust_cfa_offset 8
        mov     %r11, %rdi
        call    *16(%r11)               /* ring */
        pop     %r11
        .cfi_adjust_cfa_offset -8
        pop     %r10
        .cfi_adjust_cfa_offset -8
        pop     %r9
        .cfi_adjust_cfa_offset -8
        pop     %r8
        .cfi_adjust_cfa_offset -8
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rcx
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        jmp     *8(%r11)                /* behind */
        .cfi_endproc
        .size   door_enter, . - door_enter

        .section .note.GNU-stack, "", @progbits
