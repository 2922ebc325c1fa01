/* csr.c: control and status registers. A user program has counters, and the floating-point ones of float_state.c. */
#include "isa/riscv64/csr.h"

static bool is_read_only(u32 no) {
    return no >> 10 == 3;
}

const char *rv_csr_name(u32 no) {
    switch (no) {
    case RV_FFLAGS:
        return "fflags";
    case RV_FRM:
        return "frm";
    case RV_FCSR:
        return "fcsr";
    case RV_CYCLE:
        return "cycle";
    case RV_TIME:
        return "time";
    case RV_INSTRET:
        return "instret";
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
