/* csr.h: control and status registers that a user program has. */
#ifndef ISA_RISCV64_CSR_H
#define ISA_RISCV64_CSR_H

#include "isa/riscv64/riscv64.h"

enum { RV_FFLAGS = 1, RV_FRM, RV_FCSR, RV_CYCLE = 0xc00, RV_TIME, RV_INSTRET };

/* Does the register exist, and may it be written if the instruction does? */
bool rv_csr_is_legal(const Insn *in);
/* Does the instruction write its register? The manual, 7.1: setting and clearing without any bits does not. */
bool rv_csr_writes(const Insn *in);

const char *rv_csr_name(u32 no); /* NULL: none that we know */
static inline bool rv_csr_is_float(u32 no) {
    return no >= RV_FFLAGS && no <= RV_FCSR;
}

/* float_state.c: as I64. */
Val rv_float_csr(Lifter *l, u32 no);
Val rv_flags_seen(Lifter *l); /* fflags, left out if nobody asks for them */
void rv_set_float_csr(Lifter *l, const Insn *in, u32 no, Val v);

#endif
