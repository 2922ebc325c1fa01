/* helpers_float.c: floating point that the host has no instruction for. */
#include "isa/riscv64/float_soft.h"
#include "isa/riscv64/helpers.h"
#include "isa/riscv64/helpers_host.h"
#include "isa/softfloat.h"
#include "lathe/types.h"

static const SoftFormat *format_of(u32 format) {
    static const SoftFormat *const formats[] = {[RV_F16] = &soft_f16, [RV_F32] = &soft_f32, [RV_F64] = &soft_f64};
    return formats[format & 3];
}

static u64 negated(const SoftFormat *f, u64 v) {
    return v ^ (u64)1 << (f->exponent_bits + f->fraction_bits);
}

/* The manual, 25.5 (Zfa): the integer part modulo 2^32, but with the flags of a conversion that saturates. */
static u64 to_modular(SoftEnv *e, u64 a) {
    e->rounding = SOFT_TO_ZERO;
    soft_to_int(e, &soft_f64, a, 32, true);
    i32 exponent = (i32)(a >> 52 & 0x7ff) - 1075;
    u64 significand = (a & (((u64)1 << 52) - 1)) | (u64)1 << 52;
    if (exponent >= 32 || exponent < -52)
        return 0;
    u64 v = exponent >= 0 ? significand << exponent : significand >> -exponent;
    return (u64)(i64)(i32)(a >> 63 ? -v : v);
}

static u64 operate(SoftEnv *e, u64 a, u64 b, u64 c, u32 what) {
    const SoftFormat *f = format_of(what >> 8), *other = format_of(what >> 24);
    u32 bits = what & RV_SOFT_LONG ? 64 : 32;
    bool is_signed = what & RV_SOFT_SIGNED;
    switch ((RvSoftOp)(what & 0xff)) {
    case RV_FADD:
        return soft_add(e, f, a, b);
    case RV_FSUB:
        return soft_sub(e, f, a, b);
    case RV_FMUL:
        return soft_mul(e, f, a, b);
    case RV_FDIV:
        return soft_div(e, f, a, b);
    case RV_FSQRT:
        return soft_sqrt(e, f, a);
    case RV_FMADD:
        return soft_fma(e, f, a, b, c);
    case RV_FMSUB:
        return soft_fma(e, f, a, b, negated(f, c));
    case RV_FNMSUB:
        return soft_fma(e, f, negated(f, a), b, c);
    case RV_FNMADD:
        return soft_fma(e, f, negated(f, a), b, negated(f, c));
    case RV_FNARROW:
        return soft_convert(e, &soft_f64, f, a);
    case RV_FCONVERT:
        return soft_convert(e, other, f, a);
    case RV_FROUND:
        return soft_round(e, f, a, false);
    case RV_FROUNDNX:
        return soft_round(e, f, a, true);
    case RV_FTO_INT:
        return soft_to_int(e, f, a, bits, is_signed);
    case RV_FFROM_INT:
        return soft_from_int(e, f, a, is_signed);
    case RV_FTO_MODULAR:
        return to_modular(e, a);
    }
    return 0;
}

u64 lathe_riscv64_float(LatheRiscv64Cpu *cpu, u64 a, u64 b, u64 c, u32 what) {
    u8 mode = what >> 16 & 7;
    SoftEnv e = {.rounding = mode == 7 ? cpu->frm : mode};
    u64 r = operate(&e, a, b, c, what);
    cpu->fflags |= e.flags;
    return r;
}

const Helper rv_float_helpers[] = {
    {RV_SOFT_FLOAT, (void *)lathe_riscv64_float},
    {"fma", (void *)rv_host_fma},
    {"fmaf", (void *)rv_host_fmaf},
    {NULL, NULL},
};
