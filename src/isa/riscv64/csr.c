/* csr.c: control and status registers. A user program has counters, and the floating-point ones of float_state.c. */
#include "isa/riscv64/csr.h"

#include "isa/riscv64/families.h"

static bool is_read_only(u32 no) {
    return no >> 10 == 3;
}

const char *rv_csr_name(u32 no) {
    switch (no) {
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

void rv_csr(Lifter *l, const Insn *in, RvCsrOp op) {
    (void)op;
    if (!rv_csr_is_legal(in)) {
        rv_illegal(l, in);
        return;
    }
    rv_set(l, in, 0, ir_intrinsic(l, "llvm.readcyclecounter", NULL, 0, NULL, 0));
}
