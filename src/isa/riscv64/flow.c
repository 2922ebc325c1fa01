/* flow.c: jumps, calls, branches, and what leaves for the system. */
#include "isa/riscv64/families.h"

/* Go on at in->target, or where `to` says. */
static void go(Lifter *l, const Insn *in, Val to) {
    switch ((Flow)in->flow) {
    case FLOW_JUMP:
        jump(l, in);
        return;
    case FLOW_CALL:
        call_to(l, in, to);
        return;
    case FLOW_RETURN:
        return_to(l, in, to);
        return;
    case FLOW_INDIRECT:
        jump_to(l, in, to);
        return;
    case FLOW_NEXT:
    case FLOW_BRANCH:
    case FLOW_SYSCALL:
    case FLOW_STOP:
        break;
    }
    CHECK(false, "a jump of another kind");
}

void rv_jump(Lifter *l, const Insn *in) {
    rv_set(l, in, 0, pc_value(l, insn_end(in)));
    go(l, in, pc_value(l, in->target));
}

/* The lowest bit of the sum does not count. */
void rv_jump_register(Lifter *l, const Insn *in) {
    Val base = rv_x(l, in, 1), sum = in->op[2].disp ? ir_add(l, base, rv_x(l, in, 2)) : base;
    Val to = ir_and_with(l, sum, ~(u64)1);
    rv_set(l, in, 0, pc_value(l, insn_end(in)));
    go(l, in, to);
}

/* auipc op0, op1; jalr op2, offset(op0). */
void rv_far_jump(Lifter *l, const Insn *in) {
    rv_set(l, in, 0, pc_value(l, in->pc + rv_imm(in, 1)));
    rv_set(l, in, 2, pc_value(l, insn_end(in)));
    go(l, in, pc_value(l, in->target));
}

void rv_branch(Lifter *l, const Insn *in, Pred p) {
    branch(l, in, ir_icmp(l, p, rv_x(l, in, 0), rv_x(l, in, 1)));
}

/* What comes after it may be other code than when this was lifted. */
void rv_fence_code(Lifter *l, const Insn *in) {
    jump_to(l, in, pc_value(l, insn_end(in)));
}

void rv_environment_call(Lifter *l, const Insn *in) {
    if (l->cfg->on_syscall)
        call_out(l, in, l->cfg->on_syscall, true);
    else
        trap(l, in, insn_end(in), LATHE_TRAP_SYSCALL, 0);
}

void rv_break(Lifter *l, const Insn *in) {
    trap(l, in, in->pc, LATHE_TRAP_BREAK, 0);
}

void rv_illegal(Lifter *l, const Insn *in) {
    trap(l, in, in->pc, LATHE_TRAP_UNDEFINED, 0);
}
