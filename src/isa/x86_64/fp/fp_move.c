/* fp_move.c: moves of floating-point registers, their halves and their signs. */
#include "isa/x86_64/families_fp.h"
#include "isa/x86_64/forms.h"
#include "isa/x86_64/fp/fp_exact.h"

/* -------------------------------------------------------------------------------------------------- whole registers */

/* A copied register keeps what is known of it, for example its low lane as a scalar. */
static bool copy(Lifter *l, const Insn *in) {
    if (!is_cls(in, 0, CLS_VEC) || !is_cls(in, 1, CLS_VEC))
        return false;
    reg_copy(l, (Reg)(XMM0 + in->op[0].no), (Reg)(XMM0 + in->op[1].no));
    return true;
}

void fp_move(Lifter *l, const Insn *in, Alignment a, Ty t) {
    if (copy(l, in))
        return;
    if (a == ALIGNED)
        set_operand_aligned(l, in, 0, operand_aligned(l, in, 1, t));
    else
        set_operand(l, in, 0, operand_as(l, in, 1, t));
}

/* Only a load clears the rest of the register. */
void fp_move_scalar(Lifter *l, const Insn *in, Ty t) {
    Val v = operand_as(l, in, 1, t);
    if (is_mem(in, 1))
        set_operand_zext(l, in, 0, v);
    else
        set_operand(l, in, 0, v);
}

void fp_movsd(Lifter *l, const Insn *in) {
    fp_move_scalar(l, in, SD);
}

/* ----------------------------------------------------------------------------------------------------------- halves */

static Val half_of(Lifter *l, const Insn *in, int i, u32 half) {
    return ir_extract(l, operand_as(l, in, i, PD), half);
}

static void set_half(Lifter *l, const Insn *in, u32 half, Val v) {
    set_operand(l, in, 0, ir_insert(l, operand_as(l, in, 0, PD), v, half));
}

void fp_move_half(Lifter *l, const Insn *in, u32 half) {
    if (is_mem(in, 0))
        set_operand(l, in, 0, half_of(l, in, 1, half));
    else if (half)
        set_half(l, in, 1, operand_as(l, in, 1, F64));
    else
        set_operand(l, in, 0, operand_as(l, in, 1, F64));
}

void fp_movhlps(Lifter *l, const Insn *in) {
    set_operand(l, in, 0, half_of(l, in, 1, 1));
}

void fp_movlhps(Lifter *l, const Insn *in) {
    set_half(l, in, 1, operand_as(l, in, 1, F64));
}

/* ------------------------------------------------------------------------------------------------------ duplication */

void fp_movddup(Lifter *l, const Insn *in) {
    set_operand(l, in, 0, ir_splat(l, operand_as(l, in, 1, F64), 2));
}

void fp_dup_lanes(Lifter *l, const Insn *in, u32 odd) {
    Val v = fp_source(l, in, 1, PS);
    int first = (int)odd;
    set_operand(l, in, 0, ir_shuffle(l, v, v, (int[]){first, first, first + 2, first + 2}, 4));
}

/* ------------------------------------------------------------------------------------------------------------ signs */

static Val collect_signs(Lifter *l, Val v) {
    Val bits = ir_int(l, I32, 0);
    Val ints = ir_bitcast(l, v, ty_as_int(ir_ty(v)));
    for (u32 i = 0; i < ty_lanes(ir_ty(v)); i++) {
        Val negative = ir_zext(l, ir_is_negative(l, ir_extract(l, ints, i)), I32);
        bits = ir_or(l, bits, ir_shl_by(l, negative, i));
    }
    return bits;
}

void fp_movmsk(Lifter *l, const Insn *in, Ty t) {
    Val v = operand_as(l, in, 1, t);
    Val r = x86_form(l, in, &v, 1);
    set_operand(l, in, 0, r ? r : collect_signs(l, v));
}
