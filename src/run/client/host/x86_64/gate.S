/* gate.S: the way from a tool's function, which quick code has called, to a C function of lathe/tool.h.
 *
 * This code is a pattern: tool/gate.c copies it for each C function, whose address is its last word. It keeps all registers but rax, which has the
 * result, and r11, so that whoever calls the tool's function need not save what only C would change. The guest's flags of direction and of alignment checks
 * may be set, which C does not expect. C finds its arguments on the stack where the tool's function has put them: what is kept is in the Thread, with the
 * return address. A C function may call a function of the tool's again, which may come here: r11 is how much is kept already. */
#include "host_offsets.h"

#define FOREIGN_FLAGS 0x40400 /* AC, DF */
#define KEPT_BYTES 72
#define KEPT_MOST (8 * KEPT_BYTES)
#define KEPT(n) %gs:THREAD_TOOL_KEPT + 8 * (n)(%r11)
#define KEPT_RETURN KEPT(7)
#define KEPT_FLAGS KEPT(8)

    .text
    .globl tool_gate, tool_gate_end
    .hidden tool_gate, tool_gate_end
tool_gate:
    mov %gs:THREAD_TOOL_DEPTH, %r11
    pushfq
    popq KEPT_FLAGS
    cmp $KEPT_MOST, %r11
    jae 9f
    mov %rcx, KEPT(0)
    mov %rdx, KEPT(1)
    mov %rsi, KEPT(2)
    mov %rdi, KEPT(3)
    mov %r8, KEPT(4)
    mov %r9, KEPT(5)
    mov %r10, KEPT(6)
    testl $FOREIGN_FLAGS, KEPT_FLAGS
    jz 1f
    pushq $2
    popfq
1:  popq KEPT_RETURN
    addq $KEPT_BYTES, %gs:THREAD_TOOL_DEPTH
    call *target(%rip)
    mov %gs:THREAD_TOOL_DEPTH, %r11
    sub $KEPT_BYTES, %r11
    mov %r11, %gs:THREAD_TOOL_DEPTH
    pushq KEPT_RETURN
    testl $FOREIGN_FLAGS, KEPT_FLAGS
    jz 2f
    pushq KEPT_FLAGS
    popfq
2:  mov KEPT(0), %rcx
    mov KEPT(1), %rdx
    mov KEPT(2), %rsi
    mov KEPT(3), %rdi
    mov KEPT(4), %r8
    mov KEPT(5), %r9
    mov KEPT(6), %r10
    ret
9:  ud2 /* functions that call one another without end */
    .p2align 3
target:
    .quad 0
tool_gate_end:

/* lathe_count for a tool's functions: like a gate it keeps registers, but for its arguments. Optimised code may have the first cell in a register. */
    .globl tool_count, tool_count_end
    .hidden tool_count, tool_count_end
tool_count:
    mov (%rdi), %rdi
    and $511, %edi
    shl $6, %rdi
    add %rsi, %gs:THREAD_TOOL_CELLS + 8(%rdi)
    ret
tool_count_end:

/* A tool's function comes here instead of back to quick code if the thread is to leave quick code: the handler of the trap goes on. */
    .globl tool_returned
    .hidden tool_returned
tool_returned:
    int3

    .section .note.GNU-stack, "", @progbits
