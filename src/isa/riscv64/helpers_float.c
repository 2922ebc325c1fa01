/* helpers_float.c: floating point that the host has no instruction for, and the host's environment as a riscv64 guest's. */
#include "isa/riscv64/float_soft.h"
#include "isa/riscv64/helpers.h"
#include "isa/softfloat.h"
#include "lathe/lift.h"

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
    case RV_FADD: return soft_add(e, f, a, b);
    case RV_FSUB: return soft_sub(e, f, a, b);
    case RV_FMUL: return soft_mul(e, f, a, b);
    case RV_FDIV: return soft_div(e, f, a, b);
    case RV_FSQRT: return soft_sqrt(e, f, a);
    case RV_FMADD: return soft_fma(e, f, a, b, c);
    case RV_FMSUB: return soft_fma(e, f, a, b, negated(f, c));
    case RV_FNMSUB: return soft_fma(e, f, negated(f, a), b, c);
    case RV_FNMADD: return soft_fma(e, f, negated(f, a), b, negated(f, c));
    case RV_FNARROW: return soft_convert(e, &soft_f64, f, a);
    case RV_FCONVERT: return soft_convert(e, other, f, a);
    case RV_FROUND: return soft_round(e, f, a, false);
    case RV_FROUNDNX: return soft_round(e, f, a, true);
    case RV_FTO_INT: return soft_to_int(e, f, a, bits, is_signed);
    case RV_FFROM_INT: return soft_from_int(e, f, a, is_signed);
    case RV_FTO_MODULAR: return to_modular(e, a);
    }
    return 0;
}

static u64 soft_float(LatheRiscv64Cpu *cpu, u64 a, u64 b, u64 c, u32 what) {
    u8 mode = what >> 16 & 7;
    SoftEnv e = {.rounding = mode == 7 ? cpu->frm : mode};
    u64 r = operate(&e, a, b, c, what);
    cpu->fflags |= e.flags;
    return r;
}

/* ---------------------------------------------------------------------------------------------------------------- the host */

#ifdef __x86_64__

enum { ALL_MASKED = 0x1f80, ROUNDING_SHIFT = 13 };

static u32 get_host(void) {
    u32 v;
    __asm__ volatile("stmxcsr %0" : "=m"(v));
    return v;
}

static void set_host(u32 v) {
    __asm__ volatile("ldmxcsr %0" : : "m"(v));
}

/* mxcsr has the flags in the other order, and one more. */
static u8 flags_of_host(u32 v) {
    return (u8)((v & 1) << 4 | (v & 4) << 1 | (v & 8) >> 1 | (v & 0x10) >> 3 | (v & 0x20) >> 5);
}

uint32_t lathe_riscv64_enter(const LatheRiscv64Cpu *cpu) {
    u32 host = get_host();
    set_host(ALL_MASKED | (0x9cu >> 2 * cpu->frm & 3) << ROUNDING_SHIFT); /* 0, 3, 1, 2 */
    return host;
}

void lathe_riscv64_leave(LatheRiscv64Cpu *cpu, uint32_t host) {
    cpu->fflags |= flags_of_host(get_host());
    set_host(host);
}

/* Where the host has no instruction for it, LLVM calls these. They round as the host does, and leave it the flags. */
static u64 host_fma(const SoftFormat *f, u64 a, u64 b, u64 c) {
    static const u8 rounding[] = {SOFT_NEAREST_EVEN, SOFT_DOWN, SOFT_UP, SOFT_TO_ZERO};
    u32 host = get_host();
    SoftEnv e = {.rounding = rounding[host >> ROUNDING_SHIFT & 3]};
    u64 r = soft_fma(&e, f, a, b, c);
    u32 raised = (e.flags >> 4 & 1) | (e.flags & 8) >> 1 | (e.flags & 4) << 1 | (e.flags & 2) << 3 | (e.flags & 1) << 5;
    set_host(host | raised);
    return r;
}

static double fma_double(double a, double b, double c) {
    u64 x, y, z;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    memcpy(&z, &c, 8);
    x = host_fma(&soft_f64, x, y, z);
    memcpy(&a, &x, 8);
    return a;
}

static float fma_single(float a, float b, float c) {
    u32 x, y, z;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    memcpy(&z, &c, 4);
    x = (u32)host_fma(&soft_f32, x, y, z);
    memcpy(&a, &x, 4);
    return a;
}

#else
#error "the floating-point environment of this host is not known to helpers_float.c"
#endif

const Helper rv_float_helpers[] = {
    {RV_SOFT_FLOAT, (void *)soft_float},
    {"fma", (void *)fma_double},
    {"fmaf", (void *)fma_single},
    {NULL, NULL},
};
