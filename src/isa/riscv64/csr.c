/* csr.c: control and status registers. A user program has counters, and the floating-point ones of float_state.c. */
#include "isa/riscv64/csr.h"

#include "isa/riscv64/families.h"

static bool is_read_only(u32 no) {
    return no >> 10 == 3;
}

const char *rv_csr_name(u32 no) {
    switch (no) {
    case RV_FFLAGS: return "fflags";
    case RV_FRM: return "frm";
    case RV_FCSR: return "fcsr";
    case RV_CYCLE: return "cycle";
    case RV_TIME: return "time";
    case RV_INSTRET: return "instret";
    }
    return NULL;
}

bool rv_csr_writes(const Insn *in) {
    bool write = in->row == RV_ROW_csrrw || in->row == RV_ROW_csrrwi;
    return write || (in->op[2].kind == OPERAND_REG ? in->op[2].no != RV_X0 : in->op[2].disp != 0);
}

bool rv_csr_is_legal(const Insn *in) {
    u32 no = (u32)rv_imm(in, 1);
    return rv_csr_name(no) && !(is_read_only(no) && rv_csr_writes(in));
}

static Val changed(Lifter *l, RvCsrOp op, Val old, Val by) {
    switch (op) {
    case RV_CSR_WRITE: return by;
    case RV_CSR_SET: return ir_or(l, old, by);
    case RV_CSR_CLEAR: return ir_and(l, old, ir_not(l, by));
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
    Val by = rv_x(l, in, 2), old = is_float ? rv_float_csr(l, no) : ir_intrinsic(l, "llvm.readcyclecounter", NULL, 0, NULL, 0);
    if (rv_csr_writes(in))
        rv_set_float_csr(l, in, no, changed(l, op, old, by));
    rv_set(l, in, 0, old);
}
