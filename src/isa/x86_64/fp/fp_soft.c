/* fp_soft.c: see fp_soft.h.
 *
 * Results, rounding and exceptions depend on mxcsr, which is in the guest state then, and no LLVM operation has the CPU's NaNs and
 * flags. The C function works on integers (plain/float.c) and so gives the same on every host. */
#include <Zydis/Zydis.h>

#include "isa/x86_64/families_fp.h"
#include "isa/x86_64/float_op.h"
#include "isa/x86_64/fp/fp_exact.h"
#include "isa/x86_64/fp_soft.h"

/* How lanes take part. */
typedef enum Shape {
    NOT_SOFT,
    BINARY,     /* operand 0 and operand 1 */
    UNARY,      /* operand 1 */
    CONVERT,    /* the same; `to` has as many lanes as `from` */
    CONVERT_UP, /* and the rest of the destination is cleared */
    PAIRS,      /* neighbours of operand 0, then of operand 1 */
    ALTERNATE,  /* even lanes are subtracted, odd ones added */
    DOT,
    FLAGS,
} Shape;

typedef struct Soft {
    u8 shape, op;
    Ty from, to; /* 0: an integer of the operand's width */
} Soft;

#define ROW(name, ...) [ZYDIS_MNEMONIC_##name] = {__VA_ARGS__}
#define FOUR(name, shape, op)                                                                                          \
    ROW(name##PS, shape, op, PS, PS), ROW(name##PD, shape, op, PD, PD), ROW(name##SS, shape, op, SS, SS),              \
        ROW(name##SD, shape, op, SD, SD)
#define PACKED(name, shape, op) ROW(name##PS, shape, op, PS, PS), ROW(name##PD, shape, op, PD, PD)
#define I32X2 VECTOR(I32, 2)
#define I32X4 VECTOR(I32, 4)

// clang-format off
static const Soft softs[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    FOUR(ADD, BINARY, FLOAT_ADD), FOUR(SUB, BINARY, FLOAT_SUB), FOUR(MUL, BINARY, FLOAT_MUL), FOUR(DIV, BINARY, FLOAT_DIV),
    FOUR(MIN, BINARY, FLOAT_MIN), FOUR(MAX, BINARY, FLOAT_MAX), FOUR(CMP, BINARY, FLOAT_COMPARE),
    FOUR(SQRT, UNARY, FLOAT_SQRT), FOUR(ROUND, UNARY, FLOAT_ROUND),
    PACKED(HADD, PAIRS, FLOAT_ADD), PACKED(HSUB, PAIRS, FLOAT_SUB), PACKED(ADDSUB, ALTERNATE, FLOAT_ADD),
    ROW(DPPS, DOT, FLOAT_MUL, PS, PS), ROW(DPPD, DOT, FLOAT_MUL, PD, PD),
    ROW(COMISS, FLAGS, FLOAT_COMI, SS, SS),   ROW(COMISD, FLAGS, FLOAT_COMI, SD, SD),
    ROW(UCOMISS, FLAGS, FLOAT_UCOMI, SS, SS), ROW(UCOMISD, FLAGS, FLOAT_UCOMI, SD, SD),
    ROW(CVTSS2SI,  CONVERT, FLOAT_TO_INT, SS, 0),  ROW(CVTTSS2SI, CONVERT, FLOAT_TO_INT_TRUNCATED, SS, 0),
    ROW(CVTSD2SI,  CONVERT, FLOAT_TO_INT, SD, 0),  ROW(CVTTSD2SI, CONVERT, FLOAT_TO_INT_TRUNCATED, SD, 0),
    ROW(CVTPS2DQ,  CONVERT, FLOAT_TO_INT, PS, I32X4), ROW(CVTTPS2DQ, CONVERT, FLOAT_TO_INT_TRUNCATED, PS, I32X4),
    ROW(CVTPS2PI,  CONVERT, FLOAT_TO_INT, PS_HALF, I32X2), ROW(CVTTPS2PI, CONVERT, FLOAT_TO_INT_TRUNCATED, PS_HALF, I32X2),
    ROW(CVTPD2DQ,  CONVERT_UP, FLOAT_TO_INT, PD, I32X2), ROW(CVTTPD2DQ, CONVERT_UP, FLOAT_TO_INT_TRUNCATED, PD, I32X2),
    ROW(CVTPD2PI,  CONVERT, FLOAT_TO_INT, PD, I32X2), ROW(CVTTPD2PI, CONVERT, FLOAT_TO_INT_TRUNCATED, PD, I32X2),
    ROW(CVTSI2SS,  CONVERT, FLOAT_FROM_INT, 0, SS), ROW(CVTSI2SD,  CONVERT, FLOAT_FROM_INT, 0, SD),
    ROW(CVTDQ2PS,  CONVERT, FLOAT_FROM_INT, I32X4, PS), ROW(CVTPI2PS,  CONVERT, FLOAT_FROM_INT, I32X2, PS_HALF),
    ROW(CVTSS2SD,  CONVERT, FLOAT_RESIZE, SS, SD), ROW(CVTPS2PD, CONVERT, FLOAT_RESIZE, PS_HALF, PD),
    ROW(CVTSD2SS,  CONVERT, FLOAT_RESIZE, SD, SS), ROW(CVTPD2PS, CONVERT_UP, FLOAT_RESIZE, PD, PS_HALF),
};
// clang-format on

/* ------------------------------------------------------------------------------------------------------------------- lanes */

static Val lane(Lifter *l, Val v, u32 i) {
    return ty_is_vector(ir_ty(v)) ? ir_extract(l, v, i) : v;
}

static Val bits_of(Lifter *l, Val v) {
    Ty t = ir_ty(v);
    return ty_is_float(t) ? ir_zext(l, ir_bitcast(l, v, ty_as_int(t)), I64) : ir_sext(l, v, I64);
}

static Val value_of(Lifter *l, Val bits, Ty t) {
    return ir_bitcast(l, ir_trunc(l, bits, ty_as_int(t)), t);
}

/* All of `to`, made of lanes. */
static Val gather(Lifter *l, Val *lanes, Ty to) {
    if (!ty_is_vector(to))
        return lanes[0];
    Val r = ir_zero(l, to);
    for (u32 i = 0; i < ty_lanes(to); i++)
        r = ir_insert(l, r, lanes[i], i);
    return r;
}

typedef struct Work {
    Lifter *l;
    u32 imm;
    Ty from, to;
} Work;

static Val call(const Work *w, FloatOp op, Val a, Val b) {
    Lifter *l = w->l;
    bool is_double = ty_elem(op == FLOAT_FROM_INT ? w->to : w->from) == F64;
    bool is_long = ty_elem(w->from) == I64 || ty_elem(w->to) == I64;
    u32 what = op | FLOAT_IMM(w->imm) | (is_double ? FLOAT_DOUBLE : 0) | (is_long ? FLOAT_LONG : 0);
    Val args[] = {l->cpu, bits_of(l, a), b ? bits_of(l, b) : ir_int(l, I64, 0), ir_int(l, I32, what)};
    return ir_helper(l, FLOAT_HELPER, I64, args, 4);
}

static Val operate(const Work *w, FloatOp op, Val a, Val b) {
    return value_of(w->l, call(w, op, a, b), ty_elem(w->to));
}

/* ------------------------------------------------------------------------------------------------------------------ shapes */

static Val lanewise(const Work *w, FloatOp op, Val a, Val b) {
    Val lanes[4];
    for (u32 i = 0; i < ty_lanes(w->from); i++)
        lanes[i] = operate(w, op, lane(w->l, a, i), b ? lane(w->l, b, i) : NULL);
    return gather(w->l, lanes, w->to);
}

static Val pairs(const Work *w, FloatOp op, Val a, Val b) {
    Val lanes[4];
    u32 n = ty_lanes(w->from);
    for (u32 i = 0; i < n; i++) {
        Val v = i < n / 2 ? a : b;
        u32 first = 2 * i % n;
        lanes[i] = operate(w, op, lane(w->l, v, first), lane(w->l, v, first + 1));
    }
    return gather(w->l, lanes, w->to);
}

static Val alternate(const Work *w, Val a, Val b) {
    Val lanes[4];
    for (u32 i = 0; i < ty_lanes(w->from); i++)
        lanes[i] = operate(w, i % 2 ? FLOAT_ADD : FLOAT_SUB, lane(w->l, a, i), lane(w->l, b, i));
    return gather(w->l, lanes, w->to);
}

/* SDM 2A, DPPS: lanes that are not wanted are zero and raise nothing; neighbours are added first. */
static Val dot(const Work *w, Val a, Val b) {
    Val lanes[4], zero = ir_zero(w->l, ty_elem(w->to));
    u32 n = ty_lanes(w->from);
    for (u32 i = 0; i < n; i++)
        lanes[i] = w->imm >> (4 + i) & 1 ? operate(w, FLOAT_MUL, lane(w->l, a, i), lane(w->l, b, i)) : zero;
    Val sum = operate(w, FLOAT_ADD, lanes[0], lanes[1]);
    if (n == 4)
        sum = operate(w, FLOAT_ADD, sum, operate(w, FLOAT_ADD, lanes[2], lanes[3]));
    for (u32 i = 0; i < n; i++)
        lanes[i] = w->imm >> i & 1 ? sum : zero;
    return gather(w->l, lanes, w->to);
}

static void set_flags(Lifter *l, Val flags) {
    set_flag(l, ZF, ir_trunc(l, ir_lshr_by(l, flags, 6), I1));
    set_flag(l, PF, ir_trunc(l, ir_lshr_by(l, flags, 2), I1));
    set_flag(l, CF, ir_trunc(l, flags, I1));
}

/* ------------------------------------------------------------------------------------------------------------------ public */

static Work work_of(Lifter *l, const Insn *in, const Soft *s) {
    int last = in->operand_count - 1;
    return (Work){l, is_imm(in, last) ? (u32)imm_value(in, last) & 0xff : 0, s->from ? s->from : ty_int(width(in, 1)),
                  s->to ? s->to : ty_int(width(in, 0))};
}

static Val result_of(const Work *w, const Insn *in, const Soft *s) {
    Lifter *l = w->l;
    bool is_unary = s->shape == UNARY || s->shape == CONVERT || s->shape == CONVERT_UP;
    Val a = is_unary ? NULL : operand_as(l, in, 0, w->from);
    Val b = s->shape == FLAGS ? operand_as(l, in, 1, w->from) : fp_source(l, in, 1, w->from);
    switch ((Shape)s->shape) {
    case BINARY:
        return lanewise(w, s->op, a, b);
    case UNARY:
    case CONVERT:
    case CONVERT_UP:
        return lanewise(w, s->op, b, NULL);
    case PAIRS:
        return pairs(w, s->op, a, b);
    case ALTERNATE:
        return alternate(w, a, b);
    case DOT:
        return dot(w, a, b);
    case FLAGS:
        return call(w, s->op, a, b);
    case NOT_SOFT:
        break;
    }
    CHECK(false, "an instruction that has no soft meaning");
}

bool fp_soft(Lifter *l, const Insn *in) {
    const Soft *s = &softs[in->row];
    if (!s->shape)
        return false;
    if (in->row == ZYDIS_MNEMONIC_CMPSD && !is_cls(in, 0, CLS_VEC)) /* the string instruction */
        return false;
    Work w = work_of(l, in, s);
    Val r = result_of(&w, in, s);
    if (s->shape == FLAGS)
        set_flags(l, r);
    else if (s->shape == CONVERT_UP)
        set_operand_zext(l, in, 0, r);
    else
        set_operand(l, in, 0, r);
    return true;
}
