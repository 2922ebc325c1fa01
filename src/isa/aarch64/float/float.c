/* float.c: what float.h declares: arithmetic and comparisons. */
#include "isa/aarch64/float.h"

/* ------------------------------------------------------------------------------------------------------------ in integers */

A64SoftFormat a64_soft_format(Ty t) {
    Ty elem = ty_elem(t);
    return elem == F64 ? A64_F64 : elem == F32 ? A64_F32 : A64_F16;
}

Val a64_soft(Lifter *l, u32 what, Val a, Val b, Val c) {
    Val none = ir_int(l, I64, 0);
    Val args[] = {l->cpu, a, b ? b : none, c ? c : none, ir_int(l, I32, what)};
    return ir_helper(l, A64_SOFT_FLOAT, I64, args, 5);
}

static Val lane(Lifter *l, Val v, u32 i) {
    return !v ? NULL : ir_float_bits(l, ty_is_vector(ir_ty(v)) ? ir_extract(l, v, i) : v);
}

/* Lane by lane; `t` is the type of the result. */
static Val by_lanes(Lifter *l, u32 what, Ty t, Val a, Val b, Val c) {
    if (!ty_is_vector(t))
        return ir_float_of_bits(l, a64_soft(l, what, lane(l, a, 0), lane(l, b, 0), lane(l, c, 0)), t);
    Val r = ir_zero(l, t);
    for (u32 i = 0; i < ty_lanes(t); i++) {
        Val bits = a64_soft(l, what, lane(l, a, i), lane(l, b, i), lane(l, c, i));
        r = ir_insert(l, r, ir_float_of_bits(l, bits, ty_elem(t)), i);
    }
    return r;
}

static bool is_half(Ty t) {
    return ty_elem(t) == I16;
}

/* --------------------------------------------------------------------------------------------------------------- by the host */

static Val quiet_nan(Lifter *l, Ty t, bool is_negative) {
    u64 bits = ty_elem(t) == F32 ? 0x7fc00000 : (u64)0x7ff8 << 48, sign = (u64)1 << (ty_elem(t) == F32 ? 31 : 63);
    return ir_bitcast(l, ir_int(l, ty_as_int(t), is_negative ? bits | sign : bits), t);
}

/* The result of an operation. A host that makes negative NaNs passes on those of operands as this guest does: the first one, or the second, made quiet. Others make
 * positive ones, as this guest does. */
static Val canonical(Lifter *l, Val v) {
    Ty t = ir_ty(v);
    return l->host->makes_negative_nans ? ir_canonical(l, v, quiet_nan(l, t, false), quiet_nan(l, t, true)) : v;
}

Val a64_float_negate(Lifter *l, Val v) {
    Ty t = ir_ty(v);
    return is_half(t) ? ir_xor(l, v, ir_int(l, t, 0x8000)) : ir_fneg(l, v);
}

Val a64_float_absolute(Lifter *l, Val v) {
    Ty t = ir_ty(v);
    return is_half(t) ? ir_and_with(l, v, 0x7fff) : ir_unary(l, "llvm.fabs", v);
}

/* Of two equal numbers, zeros among them, all sign bits or any. */
static Val of_equals(Lifter *l, Val a, Val b, bool largest) {
    Ty t = ir_ty(a), bits = ty_as_int(t);
    Val x = ir_bitcast(l, a, bits), y = ir_bitcast(l, b, bits);
    return ir_bitcast(l, largest ? ir_and(l, x, y) : ir_or(l, x, y), t);
}

static Val made_quiet(Lifter *l, Val nan) {
    Ty t = ir_ty(nan), bits = ty_as_int(t);
    return ir_bitcast(l, ir_or(l, ir_bitcast(l, nan, bits), ir_bitcast(l, quiet_nan(l, t, false), bits)), t);
}

static Val extreme(Lifter *l, Val a, Val b, bool largest, bool number) {
    Val first = ir_fcmp(l, largest ? OGT : OLT, a, b, false), equal = ir_fcmp(l, OEQ, a, b, false);
    Val r = ir_select(l, equal, of_equals(l, a, b, largest), ir_select(l, first, a, b));
    Val no_a = ir_is_nan(l, a), no_b = ir_is_nan(l, b), nan = made_quiet(l, ir_select(l, no_a, a, b));
    if (!number)
        return ir_select(l, ir_or(l, no_a, no_b), nan, r);
    r = ir_select(l, no_a, b, ir_select(l, no_b, a, r));
    return ir_select(l, ir_and(l, no_a, no_b), nan, r);
}

static Val compared(Lifter *l, A64SoftOp op, Val a, Val b) {
    if (op == A64_FACGE || op == A64_FACGT) {
        a = a64_float_absolute(l, a);
        b = a64_float_absolute(l, b);
    }
    FPred p = op == A64_FEQ ? OEQ : op == A64_FGE || op == A64_FACGE ? OGE : OGT;
    return ir_fcmp(l, p, a, b, false);
}

static Val fused(Lifter *l, A64SoftOp op, Val a, Val b, Val c) {
    bool minus_product = op == A64_FMSUB || op == A64_FNMADD, minus_addend = op == A64_FNMADD || op == A64_FNMSUB;
    return ir_fma(l, minus_product ? ir_fneg(l, a) : a, b, minus_addend ? ir_fneg(l, c) : c);
}

/* NULL: what no host does in a plain way. */
static Val plain(Lifter *l, A64SoftOp op, Val a, Val b, Val c) {
    switch (op) {
    case A64_FADD:
        return canonical(l, ir_fop(l, FADD, a, b));
    case A64_FSUB:
        return canonical(l, ir_fop(l, FSUB, a, b));
    case A64_FMUL:
        return canonical(l, ir_fop(l, FMUL, a, b));
    case A64_FNMUL:
        return a64_float_negate(l, canonical(l, ir_fop(l, FMUL, a, b)));
    case A64_FDIV:
        return canonical(l, ir_fop(l, FDIV, a, b));
    case A64_FABD:
        return a64_float_absolute(l, canonical(l, ir_fop(l, FSUB, a, b)));
    case A64_FSQRT:
        return canonical(l, ir_fsqrt(l, a));
    case A64_FMADD:
    case A64_FMSUB:
    case A64_FNMADD:
    case A64_FNMSUB:
        return canonical(l, fused(l, op, a, b, c));
    case A64_FMAX:
    case A64_FMAXNM:
        return extreme(l, a, b, true, op == A64_FMAXNM);
    case A64_FMIN:
    case A64_FMINNM:
        return extreme(l, a, b, false, op == A64_FMINNM);
    case A64_FEQ:
    case A64_FGE:
    case A64_FGT:
    case A64_FACGE:
    case A64_FACGT:
        return compared(l, op, a, b);
    default:
        return NULL;
    }
}

static bool compares(A64SoftOp op) {
    return op >= A64_FEQ && op <= A64_FACGT;
}

Val a64_float_op(Lifter *l, A64SoftOp op, Val a, Val b, Val c) {
    Ty t = ir_ty(a);
    Val r = l->strict_fp || is_half(t) ? NULL : plain(l, op, a, b, c);
    if (r)
        return r;
    u32 what = A64_SOFT(op, a64_soft_format(t), A64_ROUND_FPCR);
    if (!compares(op))
        return by_lanes(l, what, t, a, b, c);
    Ty bits = ty_as_int(t);
    return ir_icmp(l, NE, by_lanes(l, what, bits, a, b, c), ir_zero(l, bits));
}

/* ------------------------------------------------------------------------------------------------------------- conversions */

static const char *integral_name(u32 rounding) {
    switch (rounding) {
    case SOFT_NEAREST_EVEN:
        return "llvm.roundeven";
    case A64_ROUND_FPCR:
        return "llvm.nearbyint";
    case SOFT_TO_ZERO:
        return "llvm.trunc";
    case SOFT_DOWN:
        return "llvm.floor";
    case SOFT_UP:
        return "llvm.ceil";
    default:
        return "llvm.round";
    }
}

Val a64_float_round(Lifter *l, Val v, u32 rounding, bool tell_inexact) {
    Ty t = ir_ty(v);
    if (!l->strict_fp && !is_half(t))
        return canonical(l, ir_unary(l, tell_inexact ? "llvm.rint" : integral_name(rounding), v));
    u32 what = A64_SOFT(A64_FRINT, a64_soft_format(t), rounding) | (tell_inexact ? A64_SOFT_EXACT : 0);
    return by_lanes(l, what, t, v, NULL, NULL);
}

static u32 int_kind(Ty t, bool is_signed, u32 fraction_bits) {
    u32 width = ty_elem(t) == I64 ? A64_SOFT_LONG : ty_elem(t) == I16 ? A64_SOFT_SHORT : 0;
    return width | (is_signed ? A64_SOFT_SIGNED : 0) | A64_SOFT_FRACTION(fraction_bits);
}

static Val power_of_two(Lifter *l, Ty t, i32 exponent) {
    u64 bits = (u64)(1023 + exponent) << 52;
    double value;
    memcpy(&value, &bits, 8);
    Val one = ir_float(l, ty_elem(t), value);
    return ty_is_vector(t) ? ir_splat(l, one, ty_lanes(t)) : one;
}

/* What does not fit becomes the nearest that does, and what is not a number zero: just as LLVM has it. */
static Val saturated(Lifter *l, Val v, Ty to, bool is_signed) {
    Ty types[] = {to, ir_ty(v)};
    return ir_intrinsic(l, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", types, 2, &v, 1);
}

Val a64_float_to_int(Lifter *l, Val v, Ty to, bool is_signed, u32 rounding, u32 fraction_bits) {
    Ty t = ir_ty(v);
    if (l->strict_fp || is_half(t)) {
        u32 what = A64_SOFT(A64_FTO_INT, a64_soft_format(t), rounding) | int_kind(to, is_signed, fraction_bits);
        return by_lanes(l, what, to, v, NULL, NULL);
    }
    if (fraction_bits)
        v = ir_fop(l, FMUL, v, power_of_two(l, t, (i32)fraction_bits));
    return saturated(l, rounding == SOFT_TO_ZERO ? v : ir_unary(l, integral_name(rounding), v), to, is_signed);
}

Val a64_float_from_int(Lifter *l, Val v, Ty to, bool is_signed, u32 fraction_bits) {
    if (l->strict_fp || is_half(to)) {
        u32 what =
            A64_SOFT(A64_FFROM_INT, a64_soft_format(to), A64_ROUND_FPCR) | int_kind(ir_ty(v), is_signed, fraction_bits);
        return by_lanes(l, what, to, v, NULL, NULL);
    }
    Val r = is_signed ? ir_int_to_float(l, v, to) : ir_uint_to_float(l, v, to);
    return fraction_bits ? ir_fop(l, FMUL, r, power_of_two(l, to, -(i32)fraction_bits)) : r;
}

Val a64_float_convert(Lifter *l, Val v, Ty to) {
    Ty from = ir_ty(v);
    if (l->strict_fp || is_half(from) || is_half(to)) {
        u32 what = A64_SOFT(A64_FCONVERT, a64_soft_format(to), A64_ROUND_FPCR) | A64_SOFT_FROM(a64_soft_format(from));
        return by_lanes(l, what, to, v, NULL, NULL);
    }
    Val r = ty_bits(ty_elem(to)) > ty_bits(ty_elem(from)) ? ir_fext(l, v, to) : ir_ftrunc(l, v, to);
    return canonical(l, r);
}
