/* float_convert.c: conversions between floats and integers, and to integral numbers.
 *
 * A float that no integer of the wanted size stands for becomes the nearest there is, and what is not a number the largest.
 * LLVM's own conversion has no value then, so either it is not reached, or an instruction of the host is asked for that says so.
 */
#include "isa/riscv64/families.h"
#include "isa/riscv64/float/float.h"

/* ------------------------------------------------------------------------------------------------------- integral numbers */

/* The first number from which on all are integral. */
static Val all_integral_from(Lifter *l, Ty t) {
    return ir_float(l, t, t == F32 ? 0x1p23 : 0x1p52);
}

/* To the nearest, ties away from zero: all of it is exact. */
static Val round_away(Lifter *l, Val v) {
    Ty t = ir_ty(v);
    Val small = ir_fcmp(l, OLT, ir_unary(l, "llvm.fabs", v), all_integral_from(l, t), false);
    Val x = ir_select(l, small, v, ir_zero(l, t)), whole = ir_integral(l, "trunc", x);
    Val rest = ir_unary(l, "llvm.fabs", ir_fop(l, FSUB, x, whole));
    Val next = ir_fop(l, FADD, whole, ir_binary(l, "llvm.copysign", ir_float(l, t, 1), x));
    Val up = ir_fcmp(l, OGE, rest, ir_float(l, t, 0.5), false);
    return ir_select(l, small, ir_select(l, up, next, whole), v);
}

/* By the host's rounding mode. LLVM's intrinsic without constraints supposes that to be the nearest, but only for constants. */
static Val round_dynamic(Lifter *l, Val v) {
    Val r = ir_integral(l, "nearbyint", v);
    if (!l->cfg->strict_fp)
        return r;
    return ir_select(l, ir_icmp(l, EQ, rv_frm(l), ir_int(l, I8, RV_RMM)), round_away(l, v), r);
}

/* Raises nothing but for a signaling NaN. */
static Val integral(Lifter *l, Val v, u32 mode) {
    static const char *const name[] = {
        [RV_RNE] = "roundeven", [RV_RTZ] = "trunc", [RV_RDN] = "floor", [RV_RUP] = "ceil"};
    if (mode == RV_DYN)
        return round_dynamic(l, v);
    return mode == RV_RMM ? round_away(l, v) : ir_integral(l, name[mode], v);
}

void rv_float_round(Lifter *l, const Insn *in, Ty t, bool tell_inexact) {
    Val v = rv_float(l, in, 1, t);
    rv_check_frm(l, in);
    if (rv_rounding(in) == RV_RMM || l->cfg->strict_fp || rv_is_soft(l)) {
        u32 what = RV_SOFT(tell_inexact ? RV_FROUNDNX : RV_FROUND, rv_soft_format(t), rv_rounding(in));
        rv_set_float(l, in, 0, ir_float_of_bits(l, rv_soft(l, what, ir_float_bits(l, v), NULL, NULL), t));
        return;
    }
    Val r = integral(l, v, rv_rounding(in));
    if (tell_inexact)
        rv_raise_if(l, ir_fcmp(l, ONE, r, v, false), RV_NX);
    rv_set_float(l, in, 0, rv_canonical(l, r));
}

/* ------------------------------------------------------------------------------------------------------------- to integers */

typedef struct Target {
    Ty t;
    bool is_signed;
} Target;

static u32 width(const Target *to) {
    return ty_bits(to->t);
}

static double power(u32 n) {
    return n == 64 ? 0x1p64 : n == 63 ? 0x1p63 : n == 32 ? 0x1p32 : 0x1p31;
}

/* Is an integral number in the range? Of unsigned integers the only number below it that rounds into it is -0. */
static Val fits(Lifter *l, Val n, const Target *to) {
    Ty t = ir_ty(n);
    Val below = ir_fcmp(l, OLT, n, ir_float(l, t, power(width(to) - to->is_signed)), false);
    Val above = to->is_signed ? ir_fcmp(l, OGE, n, ir_float(l, t, -power(width(to) - 1)), false)
                              : ir_fcmp(l, OGT, n, ir_float(l, t, -1), false);
    return ir_and(l, below, above);
}

/* An integral number that fits, as 64 bits. Only unsigned ones reach beyond the signed conversion. */
static Val convert(Lifter *l, Val n, const Target *to) {
    Ty t = ir_ty(n);
    if (to->is_signed || width(to) == 32)
        return ir_float_to_int(l, n, I64);
    Val big = ir_fcmp(l, OGE, n, ir_float(l, t, 0x1p63), false);
    Val low = ir_fop(l, FSUB, n, ir_select(l, big, ir_float(l, t, 0x1p63), ir_zero(l, t)));
    return ir_xor(l, ir_float_to_int(l, low, I64), ir_shl_by(l, ir_zext(l, big, I64), 63));
}

static Val limit(Lifter *l, Val v, const Target *to) {
    u32 w = width(to);
    Val least = ir_int(l, I64, to->is_signed ? ~(u64)0 << (w - 1) : 0);
    Val most = ir_int(l, I64, ~(u64)0 >> (64 - w + to->is_signed));
    return ir_select(l, ir_fcmp(l, OLT, v, ir_zero(l, ir_ty(v)), false), least, most);
}

static Val to_int(Lifter *l, Val v, const Target *to, u32 mode) {
    Val n = integral(l, v, mode), in_range = fits(l, n, to);
    Val r = convert(l, ir_select(l, in_range, n, ir_zero(l, ir_ty(v))), to);
    rv_raise_if(l, ir_not(l, in_range), RV_NV);
    rv_raise_if(l, ir_and(l, in_range, ir_fcmp(l, ONE, n, v, false)), RV_NX);
    return ir_trunc(l, ir_select(l, in_range, r, limit(l, v, to)), to->t);
}

/* In modes that need more than the host has, or more than is known of the mode. */
static Val soft_to_int(Lifter *l, Val v, const Target *to, u32 mode) {
    u32 kind = (width(to) == 64 ? RV_SOFT_LONG : 0) | (to->is_signed ? RV_SOFT_SIGNED : 0);
    return rv_soft(l, RV_SOFT(RV_FTO_INT, rv_soft_format(ir_ty(v)), mode) | kind, ir_float_bits(l, v), NULL, NULL);
}

/* The least integer stands for itself, or for what is below it; else the largest is meant. */
static Val to_int_by_form(Lifter *l, Val v, Ty to, bool truncates) {
    Val r = rv_forms(l)->to_int(l, v, to, truncates), least = ir_int(l, to, (u64)1 << (ty_bits(to) - 1));
    Val wrong = ir_and(l, ir_icmp(l, EQ, r, least), ir_not(l, ir_fcmp(l, OLT, v, ir_zero(l, ir_ty(v)), false)));
    return ir_select(l, wrong, ir_not(l, least), r);
}

void rv_float_to_int(Lifter *l, const Insn *in, Ty from, Ty to, bool is_signed) {
    Val v = rv_float(l, in, 1, from);
    u32 mode = rv_rounding(in);
    rv_check_frm(l, in);
    if ((l->cfg->strict_fp || rv_is_soft(l)) && (mode == RV_RMM || mode == RV_DYN))
        rv_set(l, in, 0, ir_trunc(l, soft_to_int(l, v, &(Target){to, is_signed}, mode), to));
    else if (rv_forms(l) && !l->strict_fp && is_signed && (mode == RV_RTZ || mode == RV_DYN))
        rv_set(l, in, 0, to_int_by_form(l, v, to, mode == RV_RTZ));
    else
        rv_set(l, in, 0, to_int(l, v, &(Target){to, is_signed}, mode));
}

void rv_float_to_int_modular(Lifter *l, const Insn *in) {
    Val bits = ir_float_bits(l, rv_float(l, in, 1, F64));
    rv_set(l, in, 0, rv_soft(l, RV_SOFT(RV_FTO_MODULAR, RV_F64, RV_RTZ), bits, NULL, NULL));
}

/* ----------------------------------------------------------------------------------------------------------- from integers */

typedef struct Integer {
    Val v; /* I64 */
    bool is_signed;
    Ty to;
} Integer;

/* An unsigned integer with its top bit set is halved first, with the lost bit in the lowest one, where rounding sees it. */
static Val host_from_int(Lifter *l, const Insn *in, const void *arg) {
    const Integer *n = arg;
    (void)in;
    if (n->is_signed)
        return ir_int_to_float(l, n->v, n->to);
    Val big = ir_is_negative(l, n->v), half = ir_or(l, ir_lshr_by(l, n->v, 1), ir_and_with(l, n->v, 1));
    Val r = ir_int_to_float(l, ir_select(l, big, half, n->v), n->to);
    return ir_select(l, big, ir_fop(l, FADD, r, r), r);
}

static Val soft_from_int(Lifter *l, const Insn *in, const void *arg) {
    const Integer *n = arg;
    u32 what = RV_SOFT(RV_FFROM_INT, rv_soft_format(n->to), rv_rounding(in)) | (n->is_signed ? RV_SOFT_SIGNED : 0);
    return ir_float_of_bits(l, rv_soft(l, what, n->v, NULL, NULL), n->to);
}

/* All integers up to a power of two are floats, and nothing is rounded. `floor` and the like convert these with a rounding mode of their own. */
static Val is_exact(Lifter *l, const Insn *in, const void *arg) {
    const Integer *n = arg;
    (void)in;
    u64 most = (u64)1 << (n->to == F32 ? 24 : 53);
    if (!n->is_signed)
        return ir_icmp(l, ULE, n->v, ir_int(l, I64, most));
    return ir_icmp(l, ULE, ir_add(l, n->v, ir_int(l, I64, most)), ir_int(l, I64, 2 * most));
}

/* 32 bits are exact in a double, whatever the mode. */
void rv_float_from_int(Lifter *l, const Insn *in, Ty from, bool is_signed, Ty to) {
    Val v = rv_int(l, in, 1, from);
    Integer n = {is_signed ? ir_sext(l, v, I64) : ir_zext(l, v, I64), is_signed || from == I32, to};
    if (from == I32 && to == F64) {
        rv_check_frm(l, in);
        rv_set_float(l, in, 0, is_signed ? ir_int_to_float(l, v, to) : host_from_int(l, in, &n));
    } else {
        rv_set_float(l, in, 0, rv_rounded_unless(l, in, is_exact, host_from_int, soft_from_int, &n));
    }
}

/* --------------------------------------------------------------------------------------------------------- between formats */

void rv_float_widen(Lifter *l, const Insn *in) {
    rv_check_frm(l, in);
    Val v = rv_float(l, in, 1, F32);
    rv_raise_for(l, v, v, false);
    rv_set_float(l, in, 0, rv_canonical(l, ir_fext(l, v, F64)));
}
