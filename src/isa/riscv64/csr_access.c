/* csr_access.c: reading and writing control and status registers. */
#include "isa/riscv64/csr.h"
#include "isa/riscv64/families.h"

static Val changed(Lifter *l, RvCsrOp op, Val old, Val by) {
    switch (op) {
    case RV_CSR_WRITE:
        return by;
    case RV_CSR_SET:
        return ir_or(l, old, by);
    case RV_CSR_CLEAR:
        return ir_and(l, old, ir_not(l, by));
    }
    CHECK(false, "a register operation of unknown kind");
}

void rv_csr(Lifter *l, const Insn *in, RvCsrOp op) {
    u32 no = (u32)rv_imm(in, 1);
    if (!rv_csr_is_legal(in)) {
        rv_illegal(l, in);
        return;
    }
    bool is_float = rv_csr_is_float(no);
    Val by = rv_x(l, in, 2),
        old = is_float ? rv_float_csr(l, no) : ir_intrinsic(l, "llvm.readcyclecounter", NULL, 0, NULL, 0);
    if (rv_csr_writes(in))
        rv_set_float_csr(l, in, no, changed(l, op, old, by));
    rv_set(l, in, 0, old);
}
