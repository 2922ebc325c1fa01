/* bare.S: a program without a C library: its first stack, system calls, and exit status 7. */
    .intel_syntax noprefix
    .globl _start
    .text
_start:
    mov r12, rsp
    test spl, 15            /* the ABI aligns the first stack */
    mov edi, 1
    jnz exit
    mov rdi, [r12]          /* argc */
    lea rbx, [r12 + 8]
next_argument:
    mov rsi, [rbx]
    test rsi, rsi
    jz done
    add rbx, 8
    xor edx, edx
1:  cmp byte ptr [rsi + rdx], 0
    je 2f
    inc edx
    jmp 1b
2:  cmp rbx, r12
    mov edi, 1
    mov eax, 1
    lea rcx, [r12 + 16]     /* not argv[0], which is a path */
    cmp rbx, rcx
    je next_argument
    syscall
    lea rsi, [rip + newline]
    mov edx, 1
    mov edi, 1
    mov eax, 1
    syscall
    jmp next_argument
done:
    mov eax, 39             /* getpid; rcx and r11 are the instruction's */
    mov rcx, -1
    mov r11, -1
    syscall
    cmp rcx, -1
    mov edi, 2
    je exit
    mov eax, 9999           /* no such call: -ENOSYS */
    syscall
    cmp rax, -38
    mov edi, 3
    jne exit
    mov edi, 7
exit:
    mov eax, 231
    syscall
    .section .rodata
newline: .ascii "\n"
    .section .note.GNU-stack, "", @progbits
