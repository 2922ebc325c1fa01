/* returns.S: returns that match no call, calls that never return, jumps into the middle: without a C library. Exit status 0:
 * all was well, otherwise the number of the part that failed. */
    .intel_syntax noprefix
    .globl _start
    .text

.macro expect reg, value, part
    cmp \reg, \value
    mov edi, \part
    jne fail
.endm

_start:
    xor ebx, ebx

/* 1: a return is a jump, if its address was pushed. */
    lea rax, [rip + 1f]
    push rax
    ret
    ud2
1:  inc ebx
    expect ebx, 1, 1

/* 2: call and pop: where am I? Many times: no stack may grow by it. */
    mov ecx, 300000
2:  call 3f
3:  pop rax
    dec ecx
    jnz 2b
    lea rdx, [rip + 3b]
    expect rax, rdx, 2

/* 3: the callee changes its return address. */
    call skips
    ud2
after_skip:
    expect ebx, 2, 3

/* 4: the callee drops its own frame and returns for its caller. */
    call outer
    expect eax, 44, 4

/* 5: ret n takes arguments away. */
    mov rbp, rsp
    push 5
    push 6
    call takes
    expect rsp, rbp, 5
    expect eax, 11, 5

/* 6: a chain of returns through a table on the stack. */
    lea rax, [rip + chain_end]
    push rax
    lea rax, [rip + link_three]
    push rax
    lea rax, [rip + link_two]
    push rax
    lea rax, [rip + link_one]
    push rax
    xor eax, eax
    ret
    ud2
chain_end:
    expect eax, 123, 6

/* 7: computed jumps into the middle of a loop's body, a million of them. */
    lea r8, [rip + middle_even]
    lea r9, [rip + middle_odd]
    mov ecx, 1000000
    xor eax, eax
4:  test cl, 1
    mov rdx, r8
    cmovnz rdx, r9
    jmp rdx
    ud2
middle_even:
    add eax, 2
middle_odd:
    add eax, 1
    dec ecx
    jnz 4b
    expect eax, 2000000, 7

/* 8: an indirect tail call at the end of a chain of them, deep. */
    mov ecx, 500000
    lea rdx, [rip + tail]
    call rdx
    expect ecx, 0, 8

/* 9: a call over memory with rsp as its base: the address is taken before the push. */
    lea rax, [rip + leaf]
    push rax
    call [rsp]
    pop rdx
    expect eax, 77, 9

/* 10: a function that overlaps another one's end, entered at both places. */
    call long_form
    mov esi, eax
    call short_form
    add esi, eax
    expect esi, 111, 10

/* 11: ret n from two places, often. */
    mov rbp, rsp
    mov ecx, 100000
    xor esi, esi
8:  push 5
    push 6
    call takes
    add esi, eax
    push 7
    push 1
    call takes
    add esi, eax
    dec ecx
    jnz 8b
    expect rsp, rbp, 11
    expect esi, 1900000, 11

/* 12: a list of places to return to, by ret n and ret, that is used three times. */
    lea rax, [rip + list_end]
    push rax
    push 0
    lea rax, [rip + list_two]
    push rax
    push 0
    lea rax, [rip + list_one]
    push rax
    mov ecx, 3
    xor eax, eax
    ret 8
    ud2
list_one:
    add eax, 100
    ret 8
list_two:
    add eax, 20
    ret
list_end:
    dec ecx
    jz 9f
    sub rsp, 40
    ret 8
9:  expect eax, 360, 12

    mov eax, 1
    mov edi, 1
    lea rsi, [rip + message]
    mov edx, 3
    syscall
    xor edi, edi
fail:
    mov eax, 60
    syscall

skips:
    lea rax, [rip + after_skip]
    mov [rsp], rax
    inc ebx
    ret

outer:
    call inner
    ud2
inner:
    add rsp, 8
    mov eax, 44
    ret

takes:
    mov eax, [rsp + 8]
    add eax, [rsp + 16]
    ret 16

link_one:
    add eax, 100
    ret
link_two:
    add eax, 20
    ret
link_three:
    add eax, 3
    ret

tail:
    dec ecx
    jz 5f
    jmp rdx
5:  ret

leaf:
    mov eax, 77
    ret

long_form:
    mov eax, 100
    jmp 6f
short_form:
    mov eax, 10
6:  cmp eax, 100
    jne 7f
    ret
7:  inc eax
    ret

    .section .rodata
message: .ascii "ok\n"
    .section .note.GNU-stack, "", @progbits
