/* gate.S: the way from a tool's function to a C function of lathe/tool.h: see tool/gate.c. Optimised code calls tools' functions with C's convention,
 * so there is nothing to keep. */
    .text
    .globl tool_gate, tool_gate_end
    .hidden tool_gate, tool_gate_end
tool_gate:
    ldr x16, target
    br x16
    .p2align 3
target:
    .quad 0
tool_gate_end:

    .globl tool_count, tool_count_end
    .hidden tool_count, tool_count_end
tool_count:
    brk #0
tool_count_end:

/* A tool's function comes here instead of back to quick code if the thread is to leave quick code. */
    .globl tool_returned
    .hidden tool_returned
tool_returned:
    brk #0

    .section .note.GNU-stack, "", %progbits
