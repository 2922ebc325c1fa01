/* operand.c: riscv64 operands: integer registers, of which x0 is none, immediates, addresses. */
#include "isa/riscv64/riscv64.h"

Val rv_int(Lifter *l, const Insn *in, int i, Ty t) {
    const Operand *op = &in->op[i];
    if (op->kind == OPERAND_IMM)
        return immediate(l, in, i, t);
    CHECK(op->kind == OPERAND_REG && op->cls == RV_CLS_X, "an operand that is no integer");
    return op->no == RV_X0 ? ir_zero(l, t) : reg_read(l, op->no, t);
}

bool rv_same(const Insn *in, int i, int k) {
    const Operand *a = &in->op[i], *b = &in->op[k];
    return a->kind == OPERAND_REG && b->kind == OPERAND_REG && a->cls == b->cls && a->no == b->no;
}

void rv_set(Lifter *l, const Insn *in, int i, Val v) {
    Reg r = in->op[i].no;
    if (r == RV_X0)
        return;
    if (ir_ty(v) != I32) {
        reg_write(l, r, v);
        return;
    }
    reg_write(l, r, ir_sext(l, v, I64));
    reg_also(l, r, v);
}

/* The base register is taken for the pointer. */
Val rv_address(Lifter *l, const Insn *in, int i) {
    const Operand *m = &in->op[i];
    if (m->base == RV_X0)
        return ir_bitcast(l, immediate(l, in, i, I64), PTR);
    Val base = reg_read(l, m->base, PTR);
    return m->disp ? ir_index(l, base, immediate(l, in, i, I64), 1) : base;
}

Val rv_plain_address(Lifter *l, const Operand *at) {
    bool based = at->base != REG_NONE && at->base != RV_X0;
    return based ? ir_add_to(l, reg_read(l, at->base, I64), at->disp) : ir_int(l, I64, (u64)at->disp);
}
