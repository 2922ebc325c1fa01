/* cross.S: crossings: from quick code to optimised code and back.
 *
 * Quick code has the guest's registers in the host's of the same name, and runs on the guest's stack. Optimised code has the guest's rbx, rsp and rbp
 * in r12, r13 and r14, its r10 to r15 and its flags in the Thread, and runs on the host's stack. Before a crossing, the code to go on with is stored
 * in THREAD_EXIT, as an offset into the arena.
 *
 * When optimised code calls quick code, it leaves a record on the host's stack, at THREAD_HOST_SP: the values of EXPECTED and HOST_SP from before the
 * call, and above them the host's return address. EXPECTED is the guest address that the call returns to; a guest return to it goes back to optimised
 * code by the record (cross_back). Nothing depends on that: without the record the guest would go on in quick code. */
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

/* Loads each flag's byte by itself, because the CPU does not forward several stores to one wider load. rax and r11 are lost. */
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

/* Sets THREAD_NEXT, the address to jump to when no register is free any more: what is in r11, or `pending` if a signal is noted. r10 is lost. */
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
    /* The guest's next pc is in r15. If the stack pointer is 8 above that of the call, and the word below it is the pc, the guest has returned. */
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

/* The host's stack is full of frames to which the guest never returned, because of longjmp and the like: begins anew at its bottom. */
deep:
    mov %gs:THREAD_HOST_BASE, %rsp
    mov %rsp, %gs:THREAD_HOST_SP
    movq $-1, %gs:THREAD_EXPECTED
    jmp 1b

/* Optimised code has returned because of a trap: stores the whole state, and C goes on (quick_trapped). */
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
hidden cross_peek /* reads the guest's return address, which may fault: then goes on at cross_peeked, with whatever r11 has */
    mov (%r13), %r11
hidden cross_peeked
    mov %r11, %gs:THREAD_EXPECTED
    cmp %gs:THREAD_MAP_END, %r11
    jae cross_forgotten
hidden cross_forget /* empties the map's word for that address, so that the return looks for it; a page that the map does not have is empty anyway */
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
    cmp $-1, %rcx /* EXPECTED is -1 if no return is expected; then this is a return to that address like any other */
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
