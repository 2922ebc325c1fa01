/* float_order.c: comparing, extremes and classes of floats, and their signs. */
#include "isa/riscv64/csr.h"
#include "isa/riscv64/families.h"
#include "isa/riscv64/float/float.h"

void rv_float_compare(Lifter *l, const Insn *in, FPred p, bool signaling, Ty t) {
    Val b = rv_float(l, in, 2, t), a = rv_float(l, in, 1, t), r = ir_fcmp(l, p, a, b, signaling);
    rv_raise_for(l, a, b, signaling);
    rv_set(l, in, 0, ir_zext(l, r, I64));
}

/* The flags go out and back in, which costs more than all around it. Where they need not be exact, a quiet comparison has left
 * them alone, unless for a signaling NaN. */
void rv_float_compare_quietly(Lifter *l, const Insn *in, FPred p, Ty t) {
    bool exact = l->strict_fp;
    Val a = rv_float(l, in, 1, t), b = rv_float(l, in, 2, t),
        flags = exact ? rv_float_csr(l, RV_FFLAGS) : rv_flags_seen(l);
    Val r = ir_fcmp(l, p, a, b, exact);
    if (exact)
        rv_set_float_csr(l, in, RV_FFLAGS, flags);
    rv_set(l, in, 3, flags);
    rv_set(l, in, 0, ir_zext(l, r, I64));
}

/* ---------------------------------------------------------------------------------------------------------------- extremes */

/* The zeros are ordered by their sign: of two equal numbers, all sign bits or any. */
static Val of_equals(Lifter *l, Val a, Val b, bool largest) {
    Ty t = ir_ty(a), bits = ty_as_int(t);
    Val x = ir_bitcast(l, a, bits), y = ir_bitcast(l, b, bits);
    return ir_bitcast(l, largest ? ir_and(l, x, y) : ir_or(l, x, y), t);
}

/* Of a number and none, the number, or none if that propagates. */
Val rv_extreme_of(Lifter *l, Val a, Val b, bool largest, bool propagates) {
    rv_raise_for(l, a, b, false);
    Val first = ir_fcmp(l, largest ? OGT : OLT, a, b, false), equal = ir_fcmp(l, OEQ, a, b, false);
    Val r = ir_select(l, equal, of_equals(l, a, b, largest), ir_select(l, first, a, b));
    Val no_b = ir_is_nan(l, b), none = ir_and(l, ir_is_nan(l, a), no_b);
    if (propagates)
        none = ir_or(l, ir_is_nan(l, a), no_b);
    return ir_select(l, none, rv_default_nan(l, ir_ty(a)), ir_select(l, no_b, a, r));
}

void rv_float_extreme(Lifter *l, const Insn *in, bool largest, bool propagates, Ty t) {
    rv_set_float(l, in, 0, rv_extreme_of(l, rv_float(l, in, 1, t), rv_float(l, in, 2, t), largest, propagates));
}

/* ----------------------------------------------------------------------------------------------------------------- classes */

/* The manual, table 13.4. From 4 on the positive classes rise; negative ones mirror them. */
enum { CLASS_ZERO = 4, CLASS_SUBNORMAL, CLASS_NORMAL, CLASS_INFINITE, CLASS_SIGNALING, CLASS_QUIET };

static Val number(Lifter *l, u64 v) {
    return ir_int(l, I64, v);
}

Val rv_class_of(Lifter *l, Val bits, u32 exponent_bits, u32 fraction_bits) {
    u64 top = ((u64)1 << exponent_bits) - 1;
    Val exponent = ir_and_with(l, ir_lshr_by(l, bits, fraction_bits), top);
    Val fraction = ir_and_with(l, bits, ((u64)1 << fraction_bits) - 1), whole = ir_is_zero(l, fraction);
    Val negative = ir_and_with(l, ir_lshr_by(l, bits, exponent_bits + fraction_bits), 1);
    Val quiet = ir_and_with(l, ir_lshr_by(l, bits, fraction_bits - 1), 1);
    Val highest = ir_icmp(l, EQ, exponent, number(l, top));
    Val low = ir_select(l, whole, number(l, CLASS_ZERO), number(l, CLASS_SUBNORMAL));
    Val k = ir_select(l, ir_is_zero(l, exponent), low, number(l, CLASS_NORMAL));
    k = ir_select(l, highest, number(l, CLASS_INFINITE), k);
    k = ir_select(l, ir_is_zero(l, negative), k, ir_sub(l, number(l, CLASS_INFINITE), k));
    Val none = ir_and(l, highest, ir_not(l, whole));
    k = ir_select(l, none, ir_add_to(l, quiet, CLASS_SIGNALING), k);
    return ir_shl(l, number(l, 1), k);
}

void rv_float_class(Lifter *l, const Insn *in, Ty t) {
    Val bits = ir_float_bits(l, rv_float(l, in, 1, t));
    rv_set(l, in, 0, t == F32 ? rv_class_of(l, bits, 8, 23) : rv_class_of(l, bits, 11, 52));
}

/* ------------------------------------------------------------------------------------------------------------------- signs */

/* With one source these are moves, and make no other values of it than compilers do. */
static Val sign_of_itself(Lifter *l, RvSign op, Val a) {
    switch (op) {
    case RV_SIGN_TAKE:
        return a;
    case RV_SIGN_NOT:
        return ir_fneg(l, a);
    case RV_SIGN_XOR:
        return ir_unary(l, "llvm.fabs", a);
    }
    CHECK(false, "a sign operation of unknown kind");
}

static Val sign_of_other(Lifter *l, RvSign op, Val a, Val b) {
    Ty t = ir_ty(a), bits = ty_as_int(t);
    Val sign = ir_and_with(l, ir_bitcast(l, b, bits), (u64)1 << (ty_bits(t) - 1));
    switch (op) {
    case RV_SIGN_TAKE:
        return ir_binary(l, "llvm.copysign", a, b);
    case RV_SIGN_NOT:
        return ir_binary(l, "llvm.copysign", a, ir_fneg(l, b));
    case RV_SIGN_XOR:
        return ir_bitcast(l, ir_xor(l, ir_bitcast(l, a, bits), sign), t);
    }
    CHECK(false, "a sign operation of unknown kind");
}

void rv_float_sign(Lifter *l, const Insn *in, RvSign op, Ty t) {
    Reg from = (Reg)(RV_F0 + in->op[1].no);
    if (op == RV_SIGN_TAKE && t == F64 && rv_same(in, 1, 2)) {
        reg_copy(l, (Reg)(RV_F0 + in->op[0].no), from);
        return;
    }
    Val a = rv_float(l, in, 1, t);
    rv_set_float(l, in, 0,
                 rv_same(in, 1, 2) ? sign_of_itself(l, op, a) : sign_of_other(l, op, a, rv_float(l, in, 2, t)));
}
