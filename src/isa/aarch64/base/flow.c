/* flow.c: jumps, calls, branches. */
#include "isa/aarch64/families.h"

void a64_jump(Lifter *l, const Insn *in) {
    jump(l, in);
}

void a64_call(Lifter *l, const Insn *in) {
    reg_write(l, A64_LR, pc_value(l, insn_end(in)));
    call_to(l, in, pc_value(l, in->target));
}

/* br, blr and ret, and those that check a signature: the Flow says which. */
void a64_jump_register(Lifter *l, const Insn *in) {
    Val to = a64_x(l, in, 0);
    if (in->flow == FLOW_CALL) {
        reg_write(l, A64_LR, pc_value(l, insn_end(in)));
        call_to(l, in, to);
    } else if (in->flow == FLOW_RETURN) {
        return_to(l, in, to);
    } else {
        jump_to(l, in, to);
    }
}

void a64_branch(Lifter *l, const Insn *in) {
    if (in->flow == FLOW_JUMP)
        jump(l, in);
    else
        branch(l, in, a64_condition(l, (A64Cond)a64_imm(in, 1)));
}

void a64_branch_zero(Lifter *l, const Insn *in, Pred p) {
    Val v = a64_x(l, in, 0);
    branch(l, in, ir_icmp(l, p, v, ir_zero(l, ir_ty(v))));
}

void a64_branch_bit(Lifter *l, const Insn *in, Pred p) {
    Val v = a64_x(l, in, 0), bit = ir_and_with(l, v, (u64)1 << a64_imm(in, 1));
    branch(l, in, ir_icmp(l, p, bit, ir_zero(l, ir_ty(v))));
}
