/* contest_enter.S: the call that ends a turn (contest.h). r11 has the Contest; everything else is the function's. */
        .text
        .globl  contest_enter
        .hidden contest_enter
        .type   contest_enter, @function
contest_enter:
        .cfi_startproc
        /* All registers that may have arguments, except vectors, which contest_turn leaves alone. The stack is aligned for the call. */
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
        call    contest_turn
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
        jmp     *8(%r11)                /* current */
        .cfi_endproc
        .size   contest_enter, . - contest_enter

        .section .note.GNU-stack, "", @progbits
