/* system.h: system registers of user mode, and what leaves for the system. */
#ifndef ISA_AARCH64_SYSTEM_H
#define ISA_AARCH64_SYSTEM_H

#include "isa/aarch64/aarch64.h"

/* Numbers of system registers as instructions have them: op0's low bit, op1, CRn, CRm, op2. */
#define A64_SYSREG(op1, n, m, op2) (1u << 14 | (op1) << 11 | (n) << 7 | (m) << 3 | (op2))
enum {
    A64_NZCV = A64_SYSREG(3, 4, 2, 0),
    A64_DIT = A64_SYSREG(3, 4, 2, 5),
    A64_SSBS = A64_SYSREG(3, 4, 2, 6),
    A64_FPCR = A64_SYSREG(3, 4, 4, 0),
    A64_FPSR = A64_SYSREG(3, 4, 4, 1),
    A64_TPIDR_EL0 = A64_SYSREG(3, 13, 0, 2),
    A64_TPIDRRO_EL0 = A64_SYSREG(3, 13, 0, 3),
    A64_CTR_EL0 = A64_SYSREG(3, 0, 0, 1),
    A64_DCZID_EL0 = A64_SYSREG(3, 0, 0, 7),
    A64_CNTFRQ_EL0 = A64_SYSREG(3, 14, 0, 0),
    A64_CNTVCT_EL0 = A64_SYSREG(3, 14, 0, 2),
    /* of identification */
    A64_MIDR = A64_SYSREG(0, 0, 0, 0),
    A64_MPIDR = A64_SYSREG(0, 0, 0, 5),
    A64_PFR0 = A64_SYSREG(0, 0, 4, 0),
    A64_PFR1 = A64_SYSREG(0, 0, 4, 1),
    A64_ISAR0 = A64_SYSREG(0, 0, 6, 0),
    A64_ISAR1 = A64_SYSREG(0, 0, 6, 1),
    A64_ISAR2 = A64_SYSREG(0, 0, 6, 2),
};

const char *a64_system_name(u32 no); /* NULL: none that a user program has */
/* Of mrs and msr: does the register exist, and may it be written if the instruction does? */
bool a64_system_is_legal(const Insn *in);
/* What is constant; false: it is not. */
bool a64_system_constant(u32 no, u64 *value);

/* The bytes that dc zva clears. */
enum { A64_LINE_BYTES = 64 };

/* The flow of what is no jump, call or branch of rows_base.def, and registers that are no operands. */
void a64_set_system_flow(Insn *in);

/* system_access.c */
void a64_system_call(Lifter *l, const Insn *in);
void a64_trap(Lifter *l, const Insn *in, LatheTrap kind);
void a64_nothing(Lifter *l, const Insn *in);
void a64_synchronize_code(Lifter *l, const Insn *in);
void a64_read_system(Lifter *l, const Insn *in);
void a64_write_system(Lifter *l, const Insn *in);
void a64_zero_line(Lifter *l, const Insn *in);
void a64_strip(Lifter *l, const Insn *in);
void a64_strip_link(Lifter *l, const Insn *in);
void a64_sign(Lifter *l, const Insn *in);
void a64_return_link(Lifter *l, const Insn *in);

#endif
