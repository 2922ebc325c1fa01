/* pages.S: a program of two dozen small functions, each of which is translated by itself since it is called by a register, and a last part two pages behind its start, which has the exit status: two builds
 * with another STATUS differ in that page only. */
    .intel_syntax noprefix
    .globl _start
    .text
_start:
    xor ebx, ebx
    .rept 24
    lea rax, [rip + 1f]
    call rax
    jmp 2f
1:  inc ebx
    ret
2:
    .endr
    jmp last
    .balign 4096, 0xcc
    .skip 4096, 0xcc
last:
    lea edi, [rbx + STATUS - 24]
    mov eax, 60
    syscall
    .section .note.GNU-stack, ""
