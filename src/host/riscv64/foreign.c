/* foreign.c: the riscv64 side of programs that were raised from another machine: see isa/foreign.h. Compiled for riscv64. */
#include "isa/foreign.h"

const bool host_result_apart = false;

enum { FLOATS = 64 };
_Static_assert(offsetof(ForeignRegs, floats) == FLOATS && offsetof(ForeignRegs, result) == 200 &&
                   sizeof(ForeignRegs) <= 208,
               "assembly knows them");

void lathe_raise_entered(ForeignRegs *regs, void (*bridge)(GuestCpu *cpu));

/* An int is sign-extended here in the register of results, and guests may have zeros above it. Functions that native code calls return ints, pointers or
 * small numbers: none of these is between 2 and 4 GiB. */
void lathe_raise_entered_here(ForeignRegs *regs, void (*bridge)(GuestCpu *cpu)) {
    lathe_raise_entered(regs, bridge);
    if (regs->ints[0] >> 32 == 0)
        regs->ints[0] = (u64)(i64)(i32)regs->ints[0];
}

/* From arguments in registers to results: `ints` stores the integers where ForeignRegs has them, `result` is where the first result is. */
#define ENTER(name, ints, result)                                                                                      \
    "\t.text\n\t.p2align 2\n\t.globl " name "\n\t.hidden " name "\n\t.type " name ", @function\n" name ":\n"           \
    "\t.cfi_startproc\n"                                                                                               \
    "\taddi sp, sp, -224\n"                                                                                            \
    "\t.cfi_def_cfa_offset 224\n\t.cfi_rel_offset ra, 216\n"                                                           \
    "\tsd ra, 216(sp)\n" ints "\tfsd fa0, 64(sp)\n\tfsd fa1, 80(sp)\n\tfsd fa2, 96(sp)\n\tfsd fa3, 112(sp)\n"          \
    "\tfsd fa4, 128(sp)\n\tfsd fa5, 144(sp)\n\tfsd fa6, 160(sp)\n\tfsd fa7, 176(sp)\n"                                 \
    "\tmv a0, sp\n"                                                                                                    \
    "\tmv a1, t0\n"                                                                                                    \
    "\tcall lathe_raise_entered_here\n"                                                                                \
    "\tld a0, " result "(sp)\n\tld a1, 8(sp)\n"                                                                        \
    "\tfld fa0, 64(sp)\n\tfld fa1, 80(sp)\n"                                                                           \
    "\tld ra, 216(sp)\n"                                                                                               \
    "\taddi sp, sp, 224\n"                                                                                             \
    "\tret\n"                                                                                                          \
    "\t.cfi_endproc\n"                                                                                                 \
    "\t.size " name ", .-" name "\n"

/* Entries of functions come here with their bridge in t0. */
__asm__(ENTER("lathe_raise_enter",
              "\tsd a0, 0(sp)\n\tsd a1, 8(sp)\n\tsd a2, 16(sp)\n\tsd a3, 24(sp)\n"
              "\tsd a4, 32(sp)\n\tsd a5, 40(sp)\n\tsd a6, 48(sp)\n\tsd a7, 56(sp)\n"
              "\tsd zero, 200(sp)\n",
              "0"));

/* And here, if the guest has a register of its own for the address of a result in memory. */
__asm__(ENTER("lathe_raise_enter_for_memory",
              "\tsd a0, 200(sp)\n\tsd a1, 0(sp)\n\tsd a2, 8(sp)\n\tsd a3, 16(sp)\n"
              "\tsd a4, 24(sp)\n\tsd a5, 32(sp)\n\tsd a6, 40(sp)\n\tsd a7, 48(sp)\n"
              "\tsd zero, 56(sp)\n",
              "200"));

/* host_call(target, regs) */
__asm__("\t.p2align 2\n\t.globl host_call\n\t.hidden host_call\n\t.type host_call, @function\n"
        "host_call:\n"
        "\t.cfi_startproc\n"
        "\taddi sp, sp, -16\n"
        "\t.cfi_def_cfa_offset 16\n\t.cfi_rel_offset ra, 8\n\t.cfi_rel_offset s0, 0\n"
        "\tsd ra, 8(sp)\n"
        "\tsd s0, 0(sp)\n"
        "\tmv t0, a0\n"
        "\tmv s0, a1\n"
        "\tfld fa0, 64(s0)\n\tfld fa1, 80(s0)\n\tfld fa2, 96(s0)\n\tfld fa3, 112(s0)\n"
        "\tfld fa4, 128(s0)\n\tfld fa5, 144(s0)\n\tfld fa6, 160(s0)\n\tfld fa7, 176(s0)\n"
        "\tld a0, 0(s0)\n\tld a1, 8(s0)\n\tld a2, 16(s0)\n\tld a3, 24(s0)\n"
        "\tld a4, 32(s0)\n\tld a5, 40(s0)\n\tld a6, 48(s0)\n\tld a7, 56(s0)\n"
        "\tjalr t0\n"
        "\tsd a0, 0(s0)\n\tsd a1, 8(s0)\n"
        "\tfsd fa0, 64(s0)\n\tfsd fa1, 80(s0)\n"
        "\tld s0, 0(sp)\n"
        "\tld ra, 8(sp)\n"
        "\taddi sp, sp, 16\n"
        "\tret\n"
        "\t.cfi_endproc\n"
        "\t.size host_call, .-host_call\n");

/* RISC-V ABIs Specification, "Integer calling convention": a va_list points to the arguments. */
void *host_list(void *room, u64 *slots) {
    (void)room;
    return slots;
}
