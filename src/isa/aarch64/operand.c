/* operand.c: aarch64 operands: general registers, of which one is zero, immediates, addresses. */
#include "isa/aarch64/aarch64.h"

Val a64_int(Lifter *l, const Insn *in, int i, Ty t) {
    const Operand *op = &in->op[i];
    if (op->kind == OPERAND_IMM)
        return immediate(l, in, i, t);
    CHECK(op->kind == OPERAND_REG && op->cls == A64_CLS_X, "an operand that is no integer");
    return op->no == A64_ZERO ? ir_zero(l, t) : reg_read(l, op->no, t);
}

void a64_set(Lifter *l, const Insn *in, int i, Val v) {
    if (in->op[i].no != A64_ZERO)
        reg_write(l, in->op[i].no, v);
}

static Val index_of(Lifter *l, const Operand *m) {
    if (!m->index_bits)
        return reg_read(l, m->index, I64);
    Val low = reg_read(l, m->index, ty_int(m->index_bits));
    return m->index_signed ? ir_sext(l, low, I64) : ir_zext(l, low, I64);
}

/* The base register is taken for the pointer. */
Val a64_address(Lifter *l, const Insn *in, int i) {
    const Operand *m = &in->op[i];
    if (m->base == REG_PC)
        return pc_pointer(l, (u64)m->disp);
    if (m->base == REG_NONE)
        return ir_bitcast(l, immediate(l, in, i, I64), PTR);
    Val base = reg_read(l, m->base, PTR);
    if (m->index != REG_NONE)
        return ir_index(l, base, index_of(l, m), m->scale);
    return m->disp ? ir_index(l, base, immediate(l, in, i, I64), 1) : base;
}

/* Either the address that was used, or, if there is a further operand, more by that. */
void a64_write_back(Lifter *l, const Insn *in, int i) {
    const Operand *m = &in->op[i];
    if (!(in->prefixes & A64_WRITES_BACK))
        return;
    if (in->operand_count == (u32)i + 1) {
        reg_write(l, m->base, a64_address(l, in, i));
        return;
    }
    const Operand *by = &in->op[i + 1];
    Val base = reg_read(l, m->base, PTR);
    reg_write(l, m->base,
              by->kind == OPERAND_IMM ? ir_index(l, base, immediate(l, in, i + 1, I64), 1)
                                      : ir_index(l, base, reg_read(l, by->no, I64), 1));
}

Val a64_plain_address(Lifter *l, const Operand *at) {
    if (at->base == REG_PC)
        return pc_value(l, (u64)at->disp);
    Val base = at->base == REG_NONE ? ir_int(l, I64, 0) : reg_read(l, at->base, I64);
    if (at->index != REG_NONE)
        base = ir_add(l, base, ir_mul(l, index_of(l, at), ir_int(l, I64, at->scale)));
    return at->disp ? ir_add_to(l, base, at->disp) : base;
}
