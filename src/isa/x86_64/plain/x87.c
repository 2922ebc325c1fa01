/* x87.c: x87 loads, stores, arithmetic and compares for lifted code, in integers.
 *
 * Names are lathe_x87_ and the operation, then the kind of memory operand, if it has one: f32, f64, i16, i32, i64, passed by its bits,
 * and f80, passed in two pieces. dst and src are numbers of stack registers; pops is how often the stack is popped.
 */
#include <signal.h>

#include "isa/x86_64/plain/extended.h"

#include "isa/x86_64/helpers/helpers_x87_stack.h"

void fpu_raise(const LatheX86Cpu *cpu) {
    (void)cpu;
    raise(SIGFPE);
}

/* ------------------------------------------------------------------------------------------------------------ loads */

static void load_float(LatheX86Cpu *cpu, const SoftFormat *f, u64 bits) {
    if (overflows(cpu))
        return;
    u16 sw = 0;
    Extended v = extended_from_float(f, bits), r = v;
    SoftNumber n = soft_unpack(f, bits);
    if (n.kind == NUMBER_SIGNALING)
        extended_refuses(v, v, &r, &sw);
    else if (n.kind == NUMBER_FINITE && !(bits >> f->fraction_bits & ((1u << f->exponent_bits) - 1)))
        sw = FPU_DE;
    load(cpu, r, sw);
}

static void load_exact(LatheX86Cpu *cpu, Extended v) {
    if (!overflows(cpu))
        load(cpu, v, 0);
}

void lathe_x87_load_f32(LatheX86Cpu *cpu, u32 bits) {
    load_float(cpu, &soft_f32, bits);
}

void lathe_x87_load_f64(LatheX86Cpu *cpu, u64 bits) {
    load_float(cpu, &soft_f64, bits);
}

void lathe_x87_load_f80(LatheX86Cpu *cpu, u64 significand, u32 sign_exponent) {
    load_exact(cpu, (Extended){significand, (u16)sign_exponent});
}

void lathe_x87_load_i16(LatheX86Cpu *cpu, u32 bits) {
    load_exact(cpu, extended_from_int((i16)bits));
}

void lathe_x87_load_i32(LatheX86Cpu *cpu, u32 bits) {
    load_exact(cpu, extended_from_int((i32)bits));
}

void lathe_x87_load_i64(LatheX86Cpu *cpu, u64 bits) {
    load_exact(cpu, extended_from_int((i64)bits));
}

void lathe_x87_load_one(LatheX86Cpu *cpu) {
    load_exact(cpu, extended_from_int(1));
}

void lathe_x87_load_zero(LatheX86Cpu *cpu) {
    load_exact(cpu, extended_zero(false));
}

/* SDM 1, 8.3.8: constants have 66 bits, and are rounded as the control word says, without an exception. */
static void load_constant(LatheX86Cpu *cpu, u64 high, u32 low, i32 exponent) {
    SoftNumber n = {.kind = NUMBER_FINITE, .exponent = exponent, .significand = (u128)high << 64 | (u128)low << 62};
    u16 ignored = 0;
    load_exact(cpu, extended_pack(cpu->fpu_cw, &n, &ignored));
}

void lathe_x87_load_pi(LatheX86Cpu *cpu) {
    load_constant(cpu, 0xc90fdaa22168c234, 3, 1);
}

void lathe_x87_load_l2e(LatheX86Cpu *cpu) {
    load_constant(cpu, 0xb8aa3b295c17f0bb, 3, 0);
}

void lathe_x87_load_l2t(LatheX86Cpu *cpu) {
    load_constant(cpu, 0xd49a784bcd1b8afe, 1, 1);
}

void lathe_x87_load_lg2(LatheX86Cpu *cpu) {
    load_constant(cpu, 0x9a209a84fbcff798, 3, -2);
}

void lathe_x87_load_ln2(LatheX86Cpu *cpu) {
    load_constant(cpu, 0xb17217f7d1cf79ab, 3, -1);
}

/* ----------------------------------------------------------------------------------------------------------- stores */

/* Is there nothing to store? Then it is the indefinite value. */
static bool is_top_empty(LatheX86Cpu *cpu) {
    fpu_wait(cpu);
    if (!fpu_empty(cpu, 0))
        return false;
    fpu_stack_fault(cpu, 0);
    return true;
}

static u64 store_float(LatheX86Cpu *cpu, const SoftFormat *f) {
    u16 sw = 0, ignored = 0;
    if (is_top_empty(cpu))
        return extended_to_float(cpu->fpu_cw, f, extended_indefinite(), &ignored);
    u64 r = extended_to_float(cpu->fpu_cw, f, *fpu_slot(cpu, 0), &sw);
    fpu_commit(cpu, sw, FPU_C1, 0);
    return r;
}

static u64 store_int(LatheX86Cpu *cpu, u32 bits, SoftRounding rounding) {
    u16 sw = 0;
    if (is_top_empty(cpu))
        return (u64)1 << (bits - 1);
    u64 r = extended_to_int(rounding, *fpu_slot(cpu, 0), bits, &sw);
    fpu_commit(cpu, sw, FPU_C1, 0);
    return r;
}

u32 lathe_x87_store_f32(LatheX86Cpu *cpu) {
    return (u32)store_float(cpu, &soft_f32);
}

u64 lathe_x87_store_f64(LatheX86Cpu *cpu) {
    return store_float(cpu, &soft_f64);
}

u16 lathe_x87_store_i16(LatheX86Cpu *cpu) {
    return (u16)store_int(cpu, 16, extended_rounding(cpu->fpu_cw));
}

u32 lathe_x87_store_i32(LatheX86Cpu *cpu) {
    return (u32)store_int(cpu, 32, extended_rounding(cpu->fpu_cw));
}

u64 lathe_x87_store_i64(LatheX86Cpu *cpu) {
    return store_int(cpu, 64, extended_rounding(cpu->fpu_cw));
}

u16 lathe_x87_store_t16(LatheX86Cpu *cpu) {
    return (u16)store_int(cpu, 16, SOFT_TO_ZERO);
}

u32 lathe_x87_store_t32(LatheX86Cpu *cpu) {
    return (u32)store_int(cpu, 32, SOFT_TO_ZERO);
}

u64 lathe_x87_store_t64(LatheX86Cpu *cpu) {
    return store_int(cpu, 64, SOFT_TO_ZERO);
}

/* The two pieces are left in the state. */
void lathe_x87_store_f80(LatheX86Cpu *cpu) {
    Extended v = is_top_empty(cpu) ? extended_indefinite() : *fpu_slot(cpu, 0);
    if (!fpu_empty(cpu, 0))
        cpu->fpu_sw &= (u16)~FPU_C1;
    cpu->scratch[0] = v.significand;
    cpu->scratch[1] = v.sign_exponent;
}

/* ------------------------------------------------------------------------------------------------------- arithmetic */

typedef Extended Operation(u16 cw, Extended a, Extended b, u16 *sw);

static Extended reversed_sub(u16 cw, Extended a, Extended b, u16 *sw) {
    return extended_sub(cw, b, a, sw);
}

static Extended reversed_div(u16 cw, Extended a, Extended b, u16 *sw) {
    return extended_div(cw, b, a, sw);
}

static void arith_reg(LatheX86Cpu *cpu, u32 dst, u32 src, u32 pops, Operation *op) {
    u16 sw = 0;
    if (underflows(cpu, dst, src, pops))
        return;
    Extended r = op(cpu->fpu_cw, *fpu_slot(cpu, dst), *fpu_slot(cpu, src), &sw);
    put_result(cpu, dst, r, sw, pops);
}

/* A denormal float in memory is an exception, too, though it is none as an extended one. */
static u16 denormal_float(const SoftFormat *f, u64 bits) {
    bool is_least = !(bits >> f->fraction_bits & ((1u << f->exponent_bits) - 1));
    return is_least && soft_unpack(f, bits).kind == NUMBER_FINITE ? FPU_DE : 0;
}

static void arith_value(LatheX86Cpu *cpu, Extended v, u16 denormal, Operation *op) {
    u16 sw = 0;
    if (underflows(cpu, 0, 0, 0))
        return;
    Extended top = *fpu_slot(cpu, 0), r = op(cpu->fpu_cw, top, v, &sw);
    bool refused = extended_is_nan(top) || extended_is_unsupported(top) || sw & (FPU_IE | FPU_ZE);
    put_result(cpu, 0, r, refused ? sw : sw | denormal, 0);
}

#define ARITH(name, op)                                                                                                \
    void lathe_x87_##name(LatheX86Cpu *cpu, u32 dst, u32 src, u32 pops) {                                              \
        arith_reg(cpu, dst, src, pops, op);                                                                            \
    }                                                                                                                  \
    void lathe_x87_##name##_f32(LatheX86Cpu *cpu, u32 bits) {                                                          \
        arith_value(cpu, extended_from_float(&soft_f32, bits), denormal_float(&soft_f32, bits), op);                   \
    }                                                                                                                  \
    void lathe_x87_##name##_f64(LatheX86Cpu *cpu, u64 bits) {                                                          \
        arith_value(cpu, extended_from_float(&soft_f64, bits), denormal_float(&soft_f64, bits), op);                   \
    }                                                                                                                  \
    void lathe_x87_##name##_i16(LatheX86Cpu *cpu, u32 bits) {                                                          \
        arith_value(cpu, extended_from_int((i16)bits), 0, op);                                                         \
    }                                                                                                                  \
    void lathe_x87_##name##_i32(LatheX86Cpu *cpu, u32 bits) {                                                          \
        arith_value(cpu, extended_from_int((i32)bits), 0, op);                                                         \
    }

ARITH(add, extended_add)
ARITH(sub, extended_sub)
ARITH(subr, reversed_sub)
ARITH(mul, extended_mul)
ARITH(div, extended_div)
ARITH(divr, reversed_div)

static void unary(LatheX86Cpu *cpu, Extended (*op)(u16 cw, Extended v, u16 *sw)) {
    u16 sw = 0;
    if (underflows(cpu, 0, 0, 0))
        return;
    Extended r = op(cpu->fpu_cw, *fpu_slot(cpu, 0), &sw);
    put_result(cpu, 0, r, sw, 0);
}

void lathe_x87_sqrt(LatheX86Cpu *cpu) {
    unary(cpu, extended_sqrt);
}

void lathe_x87_rndint(LatheX86Cpu *cpu) {
    unary(cpu, extended_round);
}

/* --------------------------------------------------------------------------------------------------------- compares */

static void compare_value(LatheX86Cpu *cpu, Extended v, u16 denormal, u32 pops) {
    if (is_any_empty(cpu, 0, pops))
        return;
    u16 sw = extended_compare(*fpu_slot(cpu, 0), v, false);
    compared(cpu, sw & FPU_IE ? sw : sw | denormal, pops);
}

static void compare_reg(LatheX86Cpu *cpu, u32 src, u32 pops, bool quiet) {
    if (!is_any_empty(cpu, src, pops))
        compared(cpu, extended_compare(*fpu_slot(cpu, 0), *fpu_slot(cpu, src), quiet), pops);
}

void lathe_x87_com(LatheX86Cpu *cpu, u32 src, u32 pops) {
    compare_reg(cpu, src, pops, false);
}

void lathe_x87_ucom(LatheX86Cpu *cpu, u32 src, u32 pops) {
    compare_reg(cpu, src, pops, true);
}

void lathe_x87_com_f32(LatheX86Cpu *cpu, u32 bits, u32 pops) {
    compare_value(cpu, extended_from_float(&soft_f32, bits), denormal_float(&soft_f32, bits), pops);
}

void lathe_x87_com_f64(LatheX86Cpu *cpu, u64 bits, u32 pops) {
    compare_value(cpu, extended_from_float(&soft_f64, bits), denormal_float(&soft_f64, bits), pops);
}

void lathe_x87_com_i16(LatheX86Cpu *cpu, u32 bits, u32 pops) {
    compare_value(cpu, extended_from_int((i16)bits), 0, pops);
}

void lathe_x87_com_i32(LatheX86Cpu *cpu, u32 bits, u32 pops) {
    compare_value(cpu, extended_from_int((i32)bits), 0, pops);
}

void lathe_x87_tst(LatheX86Cpu *cpu) {
    compare_value(cpu, extended_zero(false), 0, 0);
}

/* C1 is the sign of the register's bits even where it is empty. SDM 2A, table 3-31. */
void lathe_x87_xam(LatheX86Cpu *cpu) {
    fpu_wait(cpu);
    Extended v = *fpu_slot(cpu, 0);
    u16 sw = extended_negative(v) ? FPU_C1 : 0;
    if (fpu_empty(cpu, 0))
        sw |= FPU_C3 | FPU_C0;
    else if (extended_is_unsupported(v))
        sw |= 0;
    else if (extended_is_nan(v))
        sw |= FPU_C0;
    else if (extended_is_infinite(v))
        sw |= FPU_C2 | FPU_C0;
    else if (extended_is_zero(v))
        sw |= FPU_C3;
    else
        sw |= extended_is_denormal(v) ? FPU_C3 | FPU_C2 : FPU_C2;
    cpu->fpu_sw = (u16)((cpu->fpu_sw & ~FPU_CODES) | sw);
}

/* C0, C2 and C3 are 8 bits above CF, PF and ZF. */
static u32 compare_flags(LatheX86Cpu *cpu, u32 src, u32 pops, bool quiet) {
    if (is_flag_compare_empty(cpu, src, pops))
        return UNORDERED;
    u16 sw = extended_compare(*fpu_slot(cpu, 0), *fpu_slot(cpu, src), quiet);
    if (fpu_commit(cpu, sw, 0, FPU_BEFORE))
        pop_some(cpu, pops);
    return sw >> 8 & UNORDERED;
}

u32 lathe_x87_comi(LatheX86Cpu *cpu, u32 src, u32 pops) {
    return compare_flags(cpu, src, pops, false);
}

u32 lathe_x87_ucomi(LatheX86Cpu *cpu, u32 src, u32 pops) {
    return compare_flags(cpu, src, pops, true);
}

#include "isa/x86_64/helpers/helpers_x87_moves.h"
