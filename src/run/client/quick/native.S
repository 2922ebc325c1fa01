/* native.S: from C to the copy of one instruction, with the guest's registers, and back. */
#include "run/client/quick/macros.h"

.macro load_general
    mov %gs:CPU_GP(0), %rax
    mov %gs:CPU_GP(1), %rcx
    mov %gs:CPU_GP(2), %rdx
    mov %gs:CPU_GP(3), %rbx
    mov %gs:CPU_GP(5), %rbp
    mov %gs:CPU_GP(6), %rsi
    mov %gs:CPU_GP(7), %rdi
    mov %gs:CPU_GP(8), %r8
    mov %gs:CPU_GP(9), %r9
    load_upper
    mov %gs:CPU_GP(4), %rsp
.endm

.macro save_general
    mov %rax, %gs:CPU_GP(0)
    mov %rcx, %gs:CPU_GP(1)
    mov %rdx, %gs:CPU_GP(2)
    mov %rbx, %gs:CPU_GP(3)
    mov %rsp, %gs:CPU_GP(4)
    mov %rbp, %gs:CPU_GP(5)
    mov %rsi, %gs:CPU_GP(6)
    mov %rdi, %gs:CPU_GP(7)
    mov %r8, %gs:CPU_GP(8)
    mov %r9, %gs:CPU_GP(9)
    save_upper
.endm

.text

/* bool native_call(void): runs the code at THREAD_TARGET, which ends by a jump to native_leave; false: the CPU refused it. */
hidden native_call
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, %gs:THREAD_HOST_SP
    pushq %gs:THREAD_FLAGS
    popfq
    load_general
    jmp *%gs:THREAD_TARGET

hidden native_leave
    save_general
    mov %gs:THREAD_HOST_SP, %rsp
    pushfq
    popq %gs:THREAD_FLAGS
    mov $1, %eax
    jmp 1f
hidden native_refused
    mov %gs:THREAD_HOST_SP, %rsp
    xor %eax, %eax
1:  cld
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret

.section .note.GNU-stack, "", @progbits
