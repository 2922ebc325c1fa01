/* flow.c: jumps, calls, returns, and the stack. */
#include "isa/x86_64/families_base.h"

void jump_near(Lifter *l, const Insn *in) {
    if (in->flow == FLOW_JUMP)
        jump(l, in);
    else
        jump_to(l, in, operand(l, in, 0));
}

void jump_if(Lifter *l, const Insn *in, Cond c) {
    branch(l, in, condition(l, c));
}

void jump_if_rcx_zero(Lifter *l, const Insn *in, u32 bits) {
    branch(l, in, ir_is_zero(l, gp(l, RCX, bits)));
}

/* The address size says whether rcx or ecx counts. */
void loop_if(Lifter *l, const Insn *in, Loop kind) {
    Val left = ir_add_to(l, gp(l, RCX, in->address_bits), -1);
    Val again = ir_icmp(l, NE, left, ir_zero(l, ir_ty(left)));
    if (kind != LOOP_ALWAYS)
        again = ir_and(l, again, condition(l, kind == LOOP_WHILE_EQUAL ? COND_E : COND_NE));
    reg_write(l, RCX, left);
    branch(l, in, again);
}

/* The target is read before the push: call [rsp] uses the old rsp. */
void call_near(Lifter *l, const Insn *in) {
    Val to = is_imm(in, 0) ? pc_value(l, in->target) : operand(l, in, 0);
    push(l, in, pc_value(l, insn_end(in)));
    call_to(l, in, to);
}

void return_near(Lifter *l, const Insn *in) {
    Val to = pop(l, in, 64);
    if (in->operand_count && is_imm(in, 0))
        reg_write(l, RSP, ir_offset(l, reg_read(l, RSP, PTR), (i64)(imm_value(in, 0) & 0xffff)));
    return_to(l, in, to);
}

/* push imm and push of a segment register have the stack's width; Zydis calls it the operand size. */
void push_operand(Lifter *l, const Insn *in) {
    u32 w = in->operand_bits == 16 ? 16 : 64;
    if (is_imm(in, 0))
        push(l, in, imm(l, in, 0, ty_int(w)));
    else if (is_cls(in, 0, CLS_SEG))
        push(l, in, ir_zero(l, ty_int(w)));
    else
        push(l, in, operand(l, in, 0));
}

/* SDM 2B, POP: a memory destination based on rsp is addressed with the rsp after the pop. */
void pop_operand(Lifter *l, const Insn *in) {
    u32 w = in->operand_bits == 16 ? 16 : 64;
    Val v = pop(l, in, w);
    if (is_cls(in, 0, CLS_SEG))
        return;
    set_operand(l, in, 0, v);
}

void push_flags(Lifter *l, const Insn *in, u32 bits) {
    push(l, in, ir_trunc(l, rflags(l), ty_int(bits)));
}

void pop_flags(Lifter *l, const Insn *in, u32 bits) {
    set_rflags(l, pop(l, in, bits), bits);
}

/* enter size, level: levels above 0 copy frame pointers of enclosing procedures. */
void enter_frame(Lifter *l, const Insn *in) {
    u32 w = in->operand_bits == 16 ? 16 : 64, bytes = w / 8;
    u64 size = imm_value(in, 0) & 0xffff, level = imm_value(in, 1) & 31;
    Val rbp = reg_read(l, RBP, PTR), top = ir_offset(l, reg_read(l, RSP, PTR), -(i64)bytes), frame = top;
    guest_store(l, in, gp(l, RBP, w), top, 0);
    for (u64 i = 1; i < level; i++) {
        rbp = ir_offset(l, rbp, -(i64)bytes);
        top = ir_offset(l, top, -(i64)bytes);
        guest_store(l, in, guest_load(l, in, ty_int(w), rbp, 0), top, 0);
    }
    if (level) {
        top = ir_offset(l, top, -(i64)bytes);
        guest_store(l, in, ir_trunc(l, ir_bitcast(l, frame, I64), ty_int(w)), top, 0);
    }
    if (w == 64)
        reg_write(l, RBP, frame);
    else
        set_gp(l, RBP, ir_trunc(l, ir_bitcast(l, frame, I64), I16));
    reg_write(l, RSP, ir_offset(l, top, -(i64)size));
}

void leave_frame(Lifter *l, const Insn *in) {
    u32 w = in->operand_bits == 16 ? 16 : 64;
    Val frame = reg_read(l, RBP, PTR);
    Val v = guest_load(l, in, ty_int(w), frame, 0);
    reg_write(l, RSP, ir_offset(l, frame, w / 8));
    set_gp(l, RBP, v);
}
