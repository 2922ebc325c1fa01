/* float_move.c: floats from and to memory and integer registers, bit by bit; constants. */
#include "isa/riscv64/families.h"
#include "isa/riscv64/float/float.h"

Val rv_half(Lifter *l, const Insn *in, int i) {
    Val bits = rv_float(l, in, i, I64);
    Val boxed = ir_icmp(l, UGE, bits, ir_int(l, I64, ~(u64)0 << 16));
    return ir_select(l, boxed, ir_trunc(l, bits, I16), ir_int(l, I16, 0x7e00));
}

void rv_set_half(Lifter *l, const Insn *in, int i, Val v) {
    rv_set_float(l, in, i, ir_or(l, ir_zext(l, v, I64), ir_int(l, I64, ~(u64)0 << 16)));
}

static void set(Lifter *l, const Insn *in, Val v) {
    if (ir_ty(v) == I16)
        rv_set_half(l, in, 0, v);
    else
        rv_set_float(l, in, 0, v);
}

void rv_float_load(Lifter *l, const Insn *in, Ty t) {
    set(l, in, guest_load(l, in, t, rv_address(l, in, 1), 0));
}

/* The low bits, boxed or not. */
void rv_float_store(Lifter *l, const Insn *in, Ty t) {
    Val v = rv_float(l, in, 0, t);
    guest_store(l, in, v, rv_address(l, in, 1), 0);
}

void rv_float_to_bits(Lifter *l, const Insn *in, Ty t) {
    rv_set(l, in, 0, ir_sext(l, rv_float(l, in, 1, t), I64));
}

void rv_float_from_bits(Lifter *l, const Insn *in, Ty t) {
    Val v = rv_int(l, in, 1, t);
    set(l, in, t == I32 ? ir_bitcast(l, v, F32) : v);
}

/* The manual, table 25.1: 1 is the least normal number of the format, 30 infinity, 31 not a number. */
static double constant(u32 index) {
    static const double values[32] = {
        -1,    0,   0x1p-16, 0x1p-15, 0x1p-8, 0x1p-7, 0.0625, 0.125, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.625,  0.75,
        0.875, 1.0, 1.25,    1.5,     1.75,   2.0,    2.5,    3,     4,    8,      16,    128,    256, 0x1p15, 0x1p16,
    };
    return values[index];
}

/* In half precision 2^16 overflows, and 2^-16 and 2^-15 are subnormal. */
static u16 half_of(u32 index) {
    double v = constant(index);
    u64 bits;
    memcpy(&bits, &v, 8);
    i32 exponent = (i32)(bits >> 52 & 0x7ff) - 1023;
    u64 sign = bits >> 63 << 15, fraction = bits >> 42 & 0x3ff;
    if (exponent < -14)
        return (u16)(0x400 >> (-14 - exponent));
    return (u16)(sign | (exponent > 15 ? 0x7c00 : (u64)(exponent + 15) << 10 | fraction));
}

void rv_float_constant(Lifter *l, const Insn *in, Ty t) {
    enum { LEAST = 1, INFINITE = 30, NO_NUMBER = 31 };
    static const u64 least[] = {[RV_F16] = 0x400, [RV_F32] = 0x800000, [RV_F64] = (u64)1 << 52};
    static const u64 infinite[] = {[RV_F16] = 0x7c00, [RV_F32] = 0x7f800000, [RV_F64] = (u64)0x7ff << 52};
    RvSoftFormat f = rv_soft_format(t);
    u32 index = (u32)rv_imm(in, 1);
    if (index == LEAST || index == INFINITE || index == NO_NUMBER) {
        u64 quiet = index == NO_NUMBER ? least[f] >> 1 : 0, bits = index == LEAST ? least[f] : infinite[f] | quiet;
        set(l, in, ir_bitcast(l, ir_int(l, ty_as_int(t), bits), t));
    } else if (t == I16) {
        set(l, in, ir_int(l, I16, half_of(index)));
    } else {
        set(l, in, ir_float(l, t, constant(index)));
    }
}
