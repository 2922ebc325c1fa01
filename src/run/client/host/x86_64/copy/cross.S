/* cross.S: from quick code to optimised code and back.
 *
 * Quick code has the guest's registers in the host's of the same name, on the guest's stack; optimised code has rbx, rsp and rbp in
 * r12, r13 and r14, r10–r15 and the flags in the Thread, and runs on the host's stack. Whoever crosses leaves the code to go on
 * with as an offset into the arena in THREAD_EXIT.
 *
 * Quick code that was called by optimised code has a record on the host's stack, at THREAD_HOST_SP: the EXPECTED and HOST_SP that
 * were there before, and above it the host's return address. A guest return to EXPECTED goes there. Nothing depends on it: without
 * the record the guest would go on in quick code. */
#include "run/client/host/x86_64/copy/macros.h"

/* The flags between rflags and their bytes in the state; rax is lost. */
.macro save_flags
    setc %gs:CPU_CF
    setp %gs:CPU_PF
    setz %gs:CPU_ZF
    sets %gs:CPU_SF
    seto %gs:CPU_OF
    lahf
    shr $12, %eax
    and $1, %al
    mov %al, %gs:CPU_AF
.endm

/* Each byte by itself: the CPU does not forward several stores to one load. r11 is lost, too. */
.macro load_flags
    movzbl %gs:CPU_CF, %eax
    movzbl %gs:CPU_PF, %r11d
    lea (%rax,%r11,4), %eax
    movzbl %gs:CPU_AF, %r11d
    shl $4, %r11d
    or %r11d, %eax
    movzbl %gs:CPU_ZF, %r11d
    shl $6, %r11d
    or %r11d, %eax
    movzbl %gs:CPU_SF, %r11d
    shl $7, %r11d
    or %r11d, %eax
    shl $8, %eax
    mov %gs:CPU_OF, %al
    add $0x7f, %al
    sahf
.endm

/* THREAD_NEXT, where to go when the flags are the guest's: to r11, or elsewhere if a signal is pending; r10 is lost. */
.macro go_by_r11 pending
    lea \pending(%rip), %r10
    cmpq $0, %gs:THREAD_SIGNALS
    cmovne %r10, %r11
    mov %r11, %gs:THREAD_NEXT
.endm

.text
hidden cross_start

/* Quick code goes on in optimised code. */
hidden cross_enter
    save_upper
    mov %rax, %r10
    save_flags
    mov %r10, %rax
    mov %rbx, %r12
    mov %rsp, %r13
    mov %rbp, %r14
    mov %gs:THREAD_HOST_SP, %rsp
    cmp %gs:THREAD_LIMIT, %rsp
    jb deep
1:  mov %gs:THREAD_EXIT, %r11d
    incq %gs:THREAD_CROSSINGS
    mov %r11, %gs:THREAD_CROSSED
    add %gs:THREAD_ARENA, %r11
    mov %gs:THREAD_SELF, %r15
    lea 8(%r13), %r10
    push %r10
    sub $8, %rsp
    call *%r11
    add $8, %rsp
    pop %r10
    /* pc in r15; it was a return if the stack is what it is behind one, and has the pc */
    cmpl $0, %gs:CPU_TRAP
    jne trapped
    cmp %r10, %r13
    mov %rcx, %gs:THREAD_SPILL_RCX
    mov %r15, %rcx
    mov %r12, %rbx
    mov %r13, %rsp
    mov %r14, %rbp
    jne 2f
hidden cross_compare /* a loop that was entered in its function's middle may end with a jump behind which the stack is the same */
    cmp %rcx, -8(%rsp)
    jne 2f
    load_upper
    cmpq $0, %gs:THREAD_SIGNALS
    jne quick_returned
    lea -8(%rsp), %rsp
    jmp *%gs:THREAD_TO_RETURN
hidden cross_jumps
2:  mov %gs:THREAD_TO_JUMP, %r11
    go_by_r11 quick_returned
    mov %rax, %gs:THREAD_SPILL_RAX
    load_flags
    mov %gs:THREAD_SPILL_RAX, %rax
    load_upper
    jmp *%gs:THREAD_NEXT

/* Frames that longjmp and the like left behind fill the stack: begin anew at its bottom. */
deep:
    mov %gs:THREAD_HOST_BASE, %rsp
    mov %rsp, %gs:THREAD_HOST_SP
    movq $-1, %gs:THREAD_EXPECTED
    jmp 1b

/* Optimised code returned because of a trap: C goes on with the whole state. */
trapped:
    mov %r15, %gs:CPU_PC
    mov %r12, %gs:CPU_GP(3)
    mov %r13, %gs:CPU_GP(4)
    mov %r14, %gs:CPU_GP(5)
    mov %rax, %gs:CPU_GP(0)
    mov %rcx, %gs:CPU_GP(1)
    mov %rdx, %gs:CPU_GP(2)
    mov %rsi, %gs:CPU_GP(6)
    mov %rdi, %gs:CPU_GP(7)
    mov %r8, %gs:CPU_GP(8)
    mov %r9, %gs:CPU_GP(9)
    mov %gs:THREAD_SELF, %rdi
    call quick_trapped
    jmp quick_resume

/* Optimised code calls or jumps to quick code. */
hidden cross_leave
    incq %gs:THREAD_CROSSINGS
    sub $8, %rsp
    push %gs:THREAD_HOST_SP
    push %gs:THREAD_EXPECTED
    mov %rsp, %gs:THREAD_HOST_SP
hidden cross_peek /* the guest's stack may be anywhere: then nobody is expected */
    mov (%r13), %r11
hidden cross_peeked
    mov %r11, %gs:THREAD_EXPECTED
    cmp %gs:THREAD_MAP_END, %r11
    jae cross_forgotten
hidden cross_forget /* quick code shall ask for the way back; what is not there of the map is forgotten already */
    movl $0, LOW_MAP(,%r11,4)
hidden cross_forgotten
    mov %gs:THREAD_RETURN_EXPECTED, %r11
    mov %r11, %gs:THREAD_RETURN
    mov %gs:THREAD_EXIT, %r11d
    add %gs:THREAD_ARENA, %r11
    mov %r11, %gs:THREAD_TARGET
    go_by_r11 quick_arrived
    mov %rax, %r10
    load_flags
    mov %r10, %rax
    mov %r12, %rbx
    mov %r13, %rsp
    mov %r14, %rbp
    load_upper
    jmp *%gs:THREAD_NEXT

/* Quick code returns to EXPECTED. Its return address is in rcx and still on the stack. */
hidden cross_back
    cmp $-1, %rcx /* nobody is expected: an address like any other */
    je quick_return
    save_upper
    mov %rcx, %r15
    mov %gs:THREAD_SPILL_RCX, %rcx
    mov %rbx, %r12
    lea 8(%rsp), %r13
    mov %rbp, %r14
    mov %gs:THREAD_HOST_SP, %rsp
    pop %gs:THREAD_EXPECTED
    pop %gs:THREAD_HOST_SP
    add $8, %rsp
    cmpq $-1, %gs:THREAD_EXPECTED
    jne 1f
    mov %gs:THREAD_RETURN_PLAIN, %r11
    mov %r11, %gs:THREAD_RETURN
1:  ret
hidden cross_end

.section .note.GNU-stack, "", @progbits
