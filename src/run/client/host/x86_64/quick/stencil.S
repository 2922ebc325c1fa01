/* stencil.S: between C and quick code of stencils, and between that and optimised code.
 *
 * Code of stencils has the Thread in r13, and some of the guest's registers in the host's (held_registers.h; CPU_FLOAT_SLOT(n) in xmm n, as in
 * optimised code); the others are in the Thread. It runs on the host's stack, at THREAD_HOST_SP or below. It leaves by quick_leave, with an exit's
 * number in the Thread, and by the other routines with a guest address in rax.
 *
 * Guest calls are host calls. A guest return is a host return if the address on the host's stack is the one that the map has for the guest's target:
 * so the processor predicts them in pairs, and the host's stack decides nothing. The word at THREAD_HOST_SP is no address that the map could have, so
 * nobody returns beyond it. What lies below THREAD_HOST_SP may be given up at any time. */
#include "held_registers.h"
#include "host_slots.h"
#include "run/client/memory/low.h"

/* The calls that a return looks at, beyond the last one. */
#define CALLS_SEARCHED 64

.macro hidden name
    .globl \name
    .hidden \name
\name:
.endm

/* Store the guest's registers that are in the host's to the Thread, and load them. */
#define SAVE_HELD(slot, name, number) mov %name, CPU_SLOT(slot)(%r13);
#define LOAD_HELD(slot, name, number) mov CPU_SLOT(slot)(%r13), %name;
.macro save_held
    EACH_HELD(SAVE_HELD)
    save_floats %r13
.endm
.macro load_held
    EACH_HELD(LOAD_HELD)
    load_floats %r13
.endm

/* Move the guest registers that quick and optimised code have in different host registers: CPU_SLOT(0) to CPU_SLOT(2). CPU_SLOT(8) is another: quick
 * code has it in r15, optimised code in r13; whoever uses these macros moves it. All others, those for floating point included, are in the same
 * registers. */
.macro held_to_slots
    mov %rbx, %rax
    mov %r10, %rcx
    mov %rbp, %rdx
.endm
.macro slots_to_held
    mov %rax, %rbx
    mov %rcx, %r10
    mov %rdx, %rbp
.endm

/* The guest returns, but not by a host return: takes the host's return address of its call off the stack, if there is one. */
.macro drop_call
    cmp THREAD_HOST_SP(%r13), %rsp
    jae 7f
    add $8, %rsp
7:
.endm

/* Calls C function n of the Thread, which sets THREAD_TARGET to where quick code goes on. */
.macro ask n
    mov $\n, %ecx
    jmp asking
.endm

/* If the thread's table has the guest address in rax at the index in rcx or beside it, jumps to its code. */
.macro go_by_table
    cmp THREAD_TABLE_PC(%r13,%rcx,8), %rax
    jne 8f
    jmp *THREAD_TABLE_CODE(%r13,%rcx,8)
8:  xor $1, %ecx /* an entry may be in its neighbour's place */
    cmp THREAD_TABLE_PC(%r13,%rcx,8), %rax
    jne 9f
    jmp *THREAD_TABLE_CODE(%r13,%rcx,8)
9:
.endm

.text
    .p2align 6
/* From here to quick_end everything is copied into the arena, near the code that goes through it. */
hidden quick_start

/* A return by the link register. */
hidden quick_return_by_link
    mov HELD_LINK, %rax
    and $-2, %rax
/* A return whose target is not on top of the host's stack, as far as is known. */
hidden quick_return_expected
    cmp THREAD_EXPECTED_SP(%r13), HELD_STACK
    jb 6f
    ja quick_back /* out of the function that went over to quick code */
    cmp THREAD_EXPECTED(%r13), %rax
    je quick_back
6:  cmp THREAD_MAP_END(%r13), %rax
    jae 4f
    mov LOW_MAP(,%rax,4), %ecx /* see quick_detour */
    test %ecx, %ecx
    je quick_returned
    cmp %rcx, (%rsp)
    jne 1f
    ret
/* longjmp and the like leave calls on the host's stack that never return: looks for the address above them. */
1:  lea 8 * CALLS_SEARCHED(%rsp), %r11
    mov %rsp, %rdx
2:  add $8, %rdx
    cmp THREAD_HOST_SP(%r13), %rdx
    jae 3f
    cmp %rcx, (%rdx)
    je 5f
    cmp %r11, %rdx
    jb 2b
3:  drop_call
    jmp *%rcx
5:  mov %rdx, %rsp
    ret
4:  drop_call
    jmp 1f
/* A computed jump. */
hidden quick_return
    cmp THREAD_MAP_END(%r13), %rax
    jae 1f
    mov LOW_MAP(,%rax,4), %ecx /* see quick_detour */
    test %ecx, %ecx
    je quick_returned
    jmp *%rcx
1:  movzwl %ax, %ecx
    go_by_table
hidden quick_returned
    mov %rax, CPU_PC(%r13)
    ask 0

    .p2align 6
hidden quick_call
    cmp THREAD_MAP_END(%r13), %rax
    jb 1f /* the map does not have it */
    mov %eax, %ecx
    shr $4, %ecx
    movzwl %cx, %ecx
    go_by_table
1:  mov %rax, CPU_PC(%r13)
    ask 1

hidden quick_back
    jmp *THREAD_C(5)(%r13)

/* A trap in the state, or a system call. */
    .p2align 4
hidden quick_trap
    mov %rax, CPU_PC(%r13)
    ask 2

hidden quick_arrived
    ask 3

hidden quick_leave
    mov $4, %ecx
asking:
    save_held
    mov %r13, %rdi
    cmp THREAD_LIMIT(%r13), %rsp
    jae 1f
    mov THREAD_HOST_SP(%r13), %rsp /* calls need no more room than there is, but C does */
1:  mov %rsp, %rbx
    mov THREAD_HOST_SP(%r13), %rbp
    and $-16, %rsp
    call *THREAD_C_FIRST(%r13,%rcx,8)
    cmp THREAD_HOST_SP(%r13), %rbp
    cmovne THREAD_HOST_SP(%r13), %rbx /* all code was begun anew meanwhile */
    mov %rbx, %rsp

/* Loads the guest's registers and goes on in quick code. From here to quick_end the guest's state is whole in the Thread, whatever was loaded already. */
hidden quick_resume
    mov THREAD_SIGNALS(%r13), %rax
    or THREAD_STOP(%r13), %rax
    jnz 7f
    load_held
    jmp *THREAD_TARGET(%r13)
7:  jmp *THREAD_C(6)(%r13)
hidden quick_end

/* A host signal handler lets a thread go on here, after it has stored the guest's state in the Thread. */
hidden quick_interrupted
    mov %gs:THREAD_SELF, %r13
    mov THREAD_HOST_SP(%r13), %rsp
    movq $0, THREAD_HELPING(%r13)
    cld
    mov %r13, %rdi
    sub $8, %rsp
    call quick_redirect
    add $8, %rsp
    jmp quick_resume

/* void quick_enter(void): run quick code at t->target; never returns. */
hidden quick_enter
    mov %gs:THREAD_SELF, %r13
    and $-16, %rsp
    push $-1
    mov %rsp, THREAD_HOST_SP(%r13)
    mov %rsp, THREAD_HOST_BASE(%r13)
    jmp quick_resume

/* ------------------------------------------------------------------------------------------------------ the other tier
 *
 * Before a crossing, the code to go on with is stored in THREAD_EXIT, as an offset into the arena. When optimised code calls quick code, it leaves a
 * record on the host's stack, at THREAD_HOST_SP: the values of EXPECTED_SP, EXPECTED and HOST_SP from before the call, and above them the host's
 * return address. A guest return to EXPECTED goes back by the record. So does a return with a stack pointer above EXPECTED_SP: then a function that
 * went over to quick code in its middle, where the link register may have any value, has returned, or was left in another way. The optimised code
 * that waits on the host's stack compares the address, and returns in turn if it is another. Nothing depends on records: without them the guest would
 * go on in quick code. */
hidden cross_start

hidden cross_enter
    cmp THREAD_LIMIT(%r13), %rsp
    jb deep
1:  mov THREAD_EXIT(%r13), %r11d
    incq THREAD_CROSSINGS(%r13)
    mov %r11, THREAD_CROSSED(%r13)
    add THREAD_ARENA(%r13), %r11
    mov %rsp, %rax
    and $-16, %rsp
    push %rax
    push %rax
    held_to_slots
    mov %r15, %r10
    mov %r13, %r15
    mov %r10, %r13
    call *%r11
entered:
    mov (%rsp), %rsp
    slots_to_held
    mov %r15, %rax
    mov %r13, %r15
    mov %gs:THREAD_SELF, %r13
    cmpl $0, CPU_TRAP(%r13)
    jne quick_trap
    cmpq $0, THREAD_SIGNALS(%r13)
    jne quick_returned
    jmp quick_return_expected

/* The host's stack is low. Gives up the calls of quick code; if that is not enough, frames of optimised code to which the guest never returned fill
 * it, and it begins anew at its bottom. */
deep:
    mov THREAD_HOST_SP(%r13), %rsp
    cmp THREAD_LIMIT(%r13), %rsp
    jae 1b
    mov THREAD_HOST_BASE(%r13), %rsp
    mov %rsp, THREAD_HOST_SP(%r13)
    movq $-1, THREAD_EXPECTED(%r13)
    movq $-1, THREAD_EXPECTED_SP(%r13)
    jmp 1b

/* Optimised code calls or jumps to quick code. A jump of the very function that quick code has entered (its return address is `entered`) needs no
 * record, because nobody waits for a return. */
hidden cross_leave
    slots_to_held
    mov %r13, %rax
    mov %r15, %r13
    mov %rax, %r15
    incq THREAD_CROSSINGS(%r13)
    mov THREAD_EXIT(%r13), %eax
    add THREAD_ARENA(%r13), %rax
    lea entered(%rip), %rcx
    cmp %rcx, (%rsp)
    je 1f
    pushq THREAD_HOST_SP(%r13)
    pushq THREAD_EXPECTED(%r13)
    pushq THREAD_EXPECTED_SP(%r13)
    pushq $-1
    mov %rsp, THREAD_HOST_SP(%r13)
    mov HELD_LINK, THREAD_EXPECTED(%r13)
    mov HELD_STACK, THREAD_EXPECTED_SP(%r13)
2:  cmpq $0, THREAD_SIGNALS(%r13)
    jne 3f
    jmp *%rax
3:  mov %rax, THREAD_TARGET(%r13)
    jmp quick_arrived
1:  mov 8(%rsp), %rsp
    jmp 2b

/* Quick code returns to the optimised code that waits. The guest address that it returns to is in rax. */
hidden cross_back
    mov THREAD_HOST_SP(%r13), %rsp
    add $8, %rsp
    popq THREAD_EXPECTED_SP(%r13)
    popq THREAD_EXPECTED(%r13)
    popq THREAD_HOST_SP(%r13)
    mov %rax, %r11
    held_to_slots
    mov %r15, %r13
    mov %r11, %r15
    ret
hidden cross_end

.section .note.GNU-stack, "", @progbits
