/* gate.S: the way from a tool's function to a C function of lathe/tool.h: see tool/gate.c. Optimised code calls tools' functions with C's convention,
 * so there is nothing to keep. */
    .text
    .globl tool_gate, tool_gate_end
    .hidden tool_gate, tool_gate_end
    .p2align 3
tool_gate:
    auipc t1, 0
    .option push
    .option norvc
    ld t1, 16(t1)
    jr t1
    .option pop
    .p2align 3
    .quad 0
tool_gate_end:

    .globl tool_count, tool_count_end
    .hidden tool_count, tool_count_end
tool_count:
    ebreak
tool_count_end:

/* A tool's function comes here instead of back to quick code if the thread is to leave quick code. */
    .globl tool_returned
    .hidden tool_returned
tool_returned:
    ebreak

    .section .note.GNU-stack, "", %progbits
