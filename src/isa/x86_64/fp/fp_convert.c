/* fp_convert.c: SSE conversions between integers and floating point, and the control register of both.
 *
 * A float that no integer of the wanted size stands for becomes the "integer indefinite", the most negative one. LLVM's
 * own conversion is poison then, so the host's instruction is asked for, where it has one.
 */
#include "isa/x86_64/families_fp.h"
#include "isa/x86_64/fp/fp_exact.h"

/* Two lanes with two lanes of zeros above, which convert without a trace; and the way back. */
static Val to_four(Lifter *l, Val v) {
    return ir_shuffle(l, v, ir_zero(l, ir_ty(v)), (int[]){0, 1, 2, 3}, 4);
}

static Val to_two(Lifter *l, Val v) {
    return ir_shuffle(l, v, v, (int[]){0, 1}, 2);
}

/* ---------------------------------------------------------------------------------------------------- from integers */

void fp_from_int(Lifter *l, const Insn *in, Ty t) {
    Val v = operand(l, in, 1);
    set_operand(l, in, 0, exact(l) ? exact_unary(l, in, t, v) : ir_int_to_float(l, v, t));
}

static Val to_singles(Lifter *l, Val v) {
    if (ty_lanes(ir_ty(v)) == 2)
        return to_two(l, exact_named(l, "cvtdq2ps", PS, to_four(l, v)));
    return exact_named(l, "cvtdq2ps", PS, v);
}

/* Every 32-bit integer is a double, so that only singles need care. */
void fp_from_ints(Lifter *l, const Insn *in, Ty t) {
    Val v = fp_source(l, in, 1, VECTOR(I32, ty_lanes(t)));
    set_operand(l, in, 0, exact(l) && t != PD ? to_singles(l, v) : ir_int_to_float(l, v, t));
}

/* ------------------------------------------------------------------------------------------------------ to integers */

/* For hosts without the instruction. A saturating conversion is right but for NaN and beyond the largest integer. */
static Val convert_anywhere(Lifter *l, Rounding r, Val v, Ty to) {
    Ty from = ir_ty(v);
    if (r == BY_MXCSR)
        v = ir_unary(l, "llvm.nearbyint", v);
    Val saturated = ir_intrinsic(l, "llvm.fptosi.sat", (Ty[]){to, from}, 2, &v, 1);
    u32 bits = ty_bits(ty_elem(to));
    Val fits = ir_fcmp(l, OLT, v, ir_float(l, from, bits == 64 ? 0x1p63 : 0x1p31), true);
    return ir_select(l, fits, saturated, ir_int(l, to, (u64)1 << (bits - 1)));
}

void fp_to_int(Lifter *l, const Insn *in, Rounding r, Ty from) {
    Val v = operand_as(l, in, 1, from);
    Ty to = ty_int(width(in, 0));
    if (!x86_forms(l))
        v = convert_anywhere(l, r, v, to);
    else
        v = exact(l) ? exact_unary(l, in, to, v) : x86_forms(l)->to_int(l, r == TO_ZERO, v, to);
    set_operand(l, in, 0, v);
}

/* Four integers; of two doubles the upper two are zero. */
static Val convert_four(Lifter *l, Rounding r, Val v) {
    if (ir_ty(v) == PS_HALF)
        v = to_four(l, v);
    if (!exact(l))
        return x86_forms(l)->to_four_ints(l, r == TO_ZERO, v);
    static const char *const names[2][2] = {{"cvtps2dq", "cvttps2dq"}, {"cvtpd2dq", "cvttpd2dq"}};
    return exact_named(l, names[ty_elem(ir_ty(v)) == F64][r == TO_ZERO], VECTOR(I32, 4), v);
}

static Val convert_four_anywhere(Lifter *l, Rounding r, Val v) {
    Val ints = convert_anywhere(l, r, v, VECTOR(I32, ty_lanes(ir_ty(v))));
    return ty_lanes(ir_ty(v)) == 2 ? to_four(l, ints) : ints;
}

void fp_to_ints(Lifter *l, const Insn *in, Rounding r, Ty from) {
    Val v = fp_source(l, in, 1, from);
    v = x86_forms(l) ? convert_four(l, r, v) : convert_four_anywhere(l, r, v);
    set_operand(l, in, 0, is_cls(in, 0, CLS_MMX) ? to_two(l, v) : v);
}

/* ---------------------------------------------------------------------------------------- between single and double */

void fp_widen(Lifter *l, const Insn *in, Ty from, Ty to) {
    Val v = fp_source(l, in, 1, from);
    if (exact(l))
        v = exact_unary(l, in, to, from == PS_HALF ? to_four(l, v) : v);
    else
        v = ir_fext(l, v, to);
    set_operand(l, in, 0, v);
}

/* The packed form clears the upper half, the scalar one keeps the rest. */
void fp_narrow(Lifter *l, const Insn *in, Ty from, Ty to) {
    Val v = fp_source(l, in, 1, from);
    if (exact(l))
        v = exact_unary(l, in, ty_is_vector(to) ? PS : to, v);
    else
        v = ir_ftrunc(l, v, to);
    if (ty_is_vector(to))
        set_operand_zext(l, in, 0, v);
    else
        set_operand(l, in, 0, v);
}

/* ------------------------------------------------------------------------------------------------------------ mxcsr */

static Val mxcsr_slot(Lifter *l) {
    return ir_state(l, offsetof(LatheX86Cpu, mxcsr));
}

/* SDM 2A, LDMXCSR: #GP if a reserved bit is set. */
void fp_ldmxcsr(Lifter *l, const Insn *in) {
    Val v = operand_as(l, in, 0, I32);
    trap_if(l, in, ir_icmp(l, UGT, v, ir_int(l, I32, 0xffff)), LATHE_TRAP_PRIVILEGED);
    Val slot = mxcsr_slot(l);
    ir_store(l, v, slot, 4, SPACE_STATE);
    if (x86_forms(l))
        x86_forms(l)->load_mxcsr(l, slot);
}

void fp_stmxcsr(Lifter *l, const Insn *in) {
    Val slot = mxcsr_slot(l);
    if (x86_forms(l))
        x86_forms(l)->store_mxcsr(l, slot);
    set_operand(l, in, 0, ir_load(l, I32, slot, 4, SPACE_STATE));
}
