/* quick.S: between C and quick code of copies.
 *
 * Quick code has every guest register in the host register of the same name, rsp and flags included, and the Thread at gs. It leaves by routines of
 * this file, whose addresses are in the Thread: quick_leave, with an exit's number in the Thread, and those that look a guest address up, which is in
 * rcx, with the guest's own rcx in its spill place. Computed calls may change the flags, because no program hands flags over by them. Returns may do
 * so as long as copy_flags.c has found no program that reads them behind a call. Jumps may not. */
#include "run/client/host/x86_64/copy/macros.h"

/* Stores the guest's state in the Thread; then C can be called. A trap flag is removed: it is the client's, because arrive.c single-steps to where
 * the state is whole. */
.macro save
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
    mov %gs:THREAD_HOST_SP, %rsp
    pushfq
    popq %gs:THREAD_FLAGS
    andl $~0x100, %gs:THREAD_FLAGS
    cld
    testl $0x40000, %gs:THREAD_FLAGS /* AC: C has unaligned accesses */
    jz 8f
    pushq $2
    popfq
8:
.endm

/* Calls C function n of the Thread, which sets THREAD_TARGET to where quick code goes on. */
.macro ask n
    save
    mov %gs:THREAD_SELF, %rdi
    call *%gs:THREAD_C(\n)
.endm

.text
    .p2align 6
/* From here to quick_end everything is copied into the arena, near the code that goes through it (far branches are predicted badly),
 * so what lies elsewhere is reached through the Thread. */
hidden quick_start

/* The guest's return address is in rcx and still on its stack. A host return takes the way that the host's own call predicted; the
 * place on the stack it needs is one that the guest has given up. */
hidden quick_return
    mov %rdx, %gs:THREAD_SPILL_RDX
    movzwl %cx, %edx
    cmp %gs:THREAD_TABLE_PC(,%rdx,8), %rcx
    jne 1f
2:  mov %gs:THREAD_TABLE_CODE(,%rdx,8), %rdx
hidden quick_return_store /* the guest's stack may be read-only: on_fault goes on at quick_return_slow */
    mov %rdx, (%rsp)
    mov %gs:THREAD_SPILL_RDX, %rdx
    mov %gs:THREAD_SPILL_RCX, %rcx
    ret
1:  xor $1, %edx /* an entry may be in its neighbour's place */
    cmp %gs:THREAD_TABLE_PC(,%rdx,8), %rcx
    je 2b
hidden quick_return_slow
    lea 8(%rsp), %rsp
    mov %gs:THREAD_SPILL_RDX, %rdx

hidden quick_returned
    mov %rcx, %gs:CPU_PC
    mov %gs:THREAD_SPILL_RCX, %rcx
    ask 0
    jmp quick_resume

/* The same where optimised code waits for a return. */
    .p2align 6
hidden quick_return_expected
    cmp %gs:THREAD_EXPECTED, %rcx
    jne quick_return
    jmp *%gs:THREAD_C(5)

/* The same with the flags: OF as a byte, the others in ah. */
    .p2align 6
hidden quick_return_exact
    mov %rax, %gs:THREAD_SPILL_RAX
    mov %rdx, %gs:THREAD_SPILL_RDX
    lahf
    seto %al
    cmp %gs:THREAD_EXPECTED, %rcx
    je 3f
    movzwl %cx, %edx
    cmp %gs:THREAD_TABLE_PC(,%rdx,8), %rcx
    jne 1f
2:  mov %gs:THREAD_TABLE_CODE(,%rdx,8), %rdx
hidden quick_return_exact_store
    mov %rdx, (%rsp)
    add $0x7f, %al
    sahf
    mov %gs:THREAD_SPILL_RAX, %rax
    mov %gs:THREAD_SPILL_RDX, %rdx
    mov %gs:THREAD_SPILL_RCX, %rcx
    ret
1:  xor $1, %edx
    cmp %gs:THREAD_TABLE_PC(,%rdx,8), %rcx
    je 2b
hidden quick_return_exact_slow
    add $0x7f, %al
    sahf
    mov %gs:THREAD_SPILL_RAX, %rax
    mov %gs:THREAD_SPILL_RDX, %rdx
    lea 8(%rsp), %rsp
    jmp quick_returned
3:  mov %gs:THREAD_SPILL_RAX, %rax
    jmp *%gs:THREAD_C(5)

/* The same by the map, for returns from optimised code, which have spilled the guest's rcx as well. The code to which the map leads loads it. */
    .p2align 6
hidden map_return
hidden map_return_load
    mov LOW_MAP(,%rcx,4), %ecx
    jrcxz map_return_unknown
hidden map_return_store
    mov %rcx, (%rsp)
    ret
hidden map_return_unknown
    mov (%rsp), %rcx
    jmp quick_return

hidden map_jump
    mov %rcx, %gs:THREAD_ASKED
hidden map_jump_load
    mov LOW_MAP(,%rcx,4), %ecx
    jrcxz map_jump_unknown
    jmp *%rcx
hidden map_jump_unknown
    mov %gs:THREAD_ASKED, %rcx
    jmp quick_jump

    .p2align 6
hidden quick_call
    mov %rdx, %gs:THREAD_SPILL_RDX
    mov %ecx, %edx
    shr $4, %edx
    movzwl %dx, %edx
    cmp %gs:THREAD_TABLE_PC(,%rdx,8), %rcx
    jne 1f
2:  mov %gs:THREAD_TABLE_CODE(,%rdx,8), %rdx
    mov %rdx, %gs:THREAD_TARGET
    mov %gs:THREAD_SPILL_RDX, %rdx
    mov %gs:THREAD_SPILL_RCX, %rcx
    jmp *%gs:THREAD_TARGET

1:  xor $1, %edx
    cmp %gs:THREAD_TABLE_PC(,%rdx,8), %rcx
    je 2b
    mov %gs:THREAD_SPILL_RDX, %rdx
    mov %rcx, %gs:CPU_PC
    mov %gs:THREAD_SPILL_RCX, %rcx
    ask 1
    jmp quick_resume

/* No flag is changed. */
hidden quick_jump
    mov %rdx, %gs:THREAD_SPILL_RDX
    movzwl %cx, %edx
    mov %rax, %gs:THREAD_SPILL_RAX
    mov %gs:THREAD_JUMP_CODE(,%rdx,8), %rax
    mov %gs:THREAD_JUMP_PC(,%rdx,8), %rdx
    lea (%rcx,%rdx), %rcx
    jrcxz 1f
    jmp jump_miss
1:  mov %rax, %gs:THREAD_TARGET
    mov %gs:THREAD_SPILL_RAX, %rax
    mov %gs:THREAD_SPILL_RDX, %rdx
    mov %gs:THREAD_SPILL_RCX, %rcx
    jmp *%gs:THREAD_TARGET

jump_miss:
    mov %rcx, %gs:CPU_PC /* the sum; C takes the entry off again */
    mov %rdx, %gs:THREAD_SPILL_BASE
    mov %gs:THREAD_SPILL_RAX, %rax
    mov %gs:THREAD_SPILL_RDX, %rdx
    mov %gs:THREAD_SPILL_RCX, %rcx
    ask 2
    jmp quick_resume

/* On its way from optimised code to quick code at THREAD_TARGET, the thread has to deliver a signal first. */
hidden quick_arrived
    ask 3
    jmp quick_resume

hidden quick_leave
    ask 4

/* Loads the guest's state and goes on in quick code. The state stays whole in the Thread until the last instruction. */
hidden quick_resume
    mov %gs:THREAD_SIGNALS, %rax
    or %gs:THREAD_STOP, %rax
    jnz 7f
    pushq %gs:THREAD_FLAGS
    popfq
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
    jmp *%gs:THREAD_TARGET
7:  jmp *%gs:THREAD_C(6)
hidden quick_end

/* A host signal handler lets a thread go on here, after it has stored the guest's state in the Thread. */
hidden quick_interrupted
    mov %gs:THREAD_HOST_SP, %rsp
    cld
    mov %gs:THREAD_SELF, %rdi
    call quick_redirect
    jmp quick_resume

/* void quick_enter(void): run quick code at t->target from the state in the Thread; never returns. */
hidden quick_enter
    and $-16, %rsp
    mov %rsp, %gs:THREAD_HOST_SP
    mov %rsp, %gs:THREAD_HOST_BASE
    jmp quick_resume

.section .note.GNU-stack, "", @progbits
