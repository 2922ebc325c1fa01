/* foreign.c: the aarch64 side of programs that were raised from another machine: see isa/foreign.h. Compiled for aarch64. */
#include "isa/foreign.h"

#define FLOATS 64 /* offsetof(ForeignRegs, floats) */
#define REGS 208  /* sizeof(ForeignRegs) */
#define FRAME 224 /* and the frame record */

_Static_assert(offsetof(ForeignRegs, floats) == FLOATS && offsetof(ForeignRegs, result) == 200 &&
                   sizeof(ForeignRegs) <= REGS,
               "assembly knows them");

#define TEXT(x) TEXT_OF(x)
#define TEXT_OF(x) #x

const bool host_result_apart = true;

/* Entries of functions come here with their bridge in x16: arguments from registers into memory, and results back. */
__asm__("\t.text\n\t.p2align 4\n\t.globl lathe_raise_enter\n\t.hidden lathe_raise_enter\n\t.type lathe_raise_enter, "
        "%function\n"
        "lathe_raise_enter:\n"
        "\t.cfi_startproc\n"
        "\tstp x29, x30, [sp, #-" TEXT(FRAME) "]!\n"
                                              "\t.cfi_def_cfa_offset " TEXT(
                                                  FRAME) "\n\t.cfi_rel_offset x29, 0\n\t.cfi_rel_offset x30, 8\n"
                                                         "\tmov x29, sp\n"
                                                         "\tstp x0, x1, [sp, #16]\n"
                                                         "\tstp x2, x3, [sp, #32]\n"
                                                         "\tstp x4, x5, [sp, #48]\n"
                                                         "\tstp x6, x7, [sp, #64]\n"
                                                         "\tstr x8, [sp, #216]\n"
                                                         "\tstp q0, q1, [sp, #80]\n"
                                                         "\tstp q2, q3, [sp, #112]\n"
                                                         "\tstp q4, q5, [sp, #144]\n"
                                                         "\tstp q6, q7, [sp, #176]\n"
                                                         "\tadd x0, sp, #16\n"
                                                         "\tmov x1, x16\n"
                                                         "\tbl lathe_raise_entered\n"
                                                         "\tldp x0, x1, [sp, #16]\n"
                                                         "\tldp q0, q1, [sp, #80]\n"
                                                         "\tldp x29, x30, [sp], #" TEXT(
                                                             FRAME) "\n"
                                                                    "\tret\n"
                                                                    "\t.cfi_endproc\n"
                                                                    "\t.size lathe_raise_enter, .-lathe_raise_enter\n");

/* host_call(target, regs) */
__asm__("\t.p2align 4\n\t.globl host_call\n\t.hidden host_call\n\t.type host_call, %function\n"
        "host_call:\n"
        "\t.cfi_startproc\n"
        "\tstp x29, x30, [sp, #-32]!\n"
        "\t.cfi_def_cfa_offset 32\n\t.cfi_rel_offset x29, 0\n\t.cfi_rel_offset x30, 8\n\t.cfi_rel_offset x19, 16\n"
        "\tmov x29, sp\n"
        "\tstr x19, [sp, #16]\n"
        "\tmov x16, x0\n"
        "\tmov x19, x1\n"
        "\tldp q0, q1, [x19, #64]\n"
        "\tldp q2, q3, [x19, #96]\n"
        "\tldp q4, q5, [x19, #128]\n"
        "\tldp q6, q7, [x19, #160]\n"
        "\tldp x0, x1, [x19]\n"
        "\tldp x2, x3, [x19, #16]\n"
        "\tldp x4, x5, [x19, #32]\n"
        "\tldp x6, x7, [x19, #48]\n"
        "\tldr x8, [x19, #200]\n"
        "\tblr x16\n"
        "\tstp x0, x1, [x19]\n"
        "\tstp q0, q1, [x19, #64]\n"
        "\tldr x19, [sp, #16]\n"
        "\tldp x29, x30, [sp], #32\n"
        "\tret\n"
        "\t.cfi_endproc\n"
        "\t.size host_call, .-host_call\n");

/* Procedure Call Standard for the Arm 64-bit Architecture, "The va_list type": no arguments are left in registers. */
void *host_list(void *room, u64 *slots) {
    struct {
        void *stack, *int_top, *float_top;
        i32 int_offset, float_offset;
    } list = {.stack = slots};
    _Static_assert(sizeof(list) <= HOST_LIST_BYTES, "there is room");
    return memcpy(room, &list, sizeof(list));
}
