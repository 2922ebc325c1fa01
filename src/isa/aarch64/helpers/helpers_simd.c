/* helpers_simd.c: AdvSIMD that the host has no instruction for: tables, estimates of integers, halves, bfloats. */
#include "isa/aarch64/helpers.h"
#include "isa/aarch64/helpers_float.h"

/* Eight bytes by index from a table of `bytes`; where there is none, zero. */
u64 lathe_aarch64_table(u64 index, u32 bytes, u64 t0, u64 t1, u64 t2, u64 t3, u64 t4, u64 t5, u64 t6, u64 t7) {
    const u64 table[8] = {t0, t1, t2, t3, t4, t5, t6, t7};
    u64 r = 0;
    for (u32 i = 0; i < 64; i += 8) {
        u32 at = index >> i & 0xff;
        r |= at < bytes ? (table[at / 8] >> at % 8 * 8 & 0xff) << i : 0;
    }
    return r;
}

u32 lathe_aarch64_urecpe(u32 a) {
    return a64_estimate_integer(a, false);
}

u32 lathe_aarch64_ursqrte(u32 a) {
    return a64_estimate_integer(a, true);
}

enum { FPCR_FZ16 = 1 << 19 };

/* The single of the same value; what is not a number keeps its bits and raises nothing. */
u32 lathe_aarch64_half(const LatheAarch64Cpu *cpu, u32 half) {
    u32 sign = half >> 15 << 31, exponent = half >> 10 & 31, fraction = half & 0x3ff;
    if (exponent == 31)
        return sign | 0x7f800000 | fraction << 13;
    if (exponent)
        return sign | (exponent + 112) << 23 | fraction << 13;
    if (!fraction || cpu->fpcr & FPCR_FZ16)
        return sign;
    u32 up = (u32)__builtin_clz(fraction) - 21;
    return sign | (113 - up) << 23 | (fraction << up & 0x3ff) << 13;
}

/* ---------------------------------------------------------------------------------------------------------------- bfloats */

/* The manual, BFDotAdd: singles below the normal ones are zero, a result that is not a number is the default one, and results are rounded to odd, but to infinity
 * where they are too large. */
static u32 only_normal(u32 a) {
    return a & 0x7f800000 ? a : a & 0x80000000;
}

static u32 odd_result(const SoftEnv *e, u64 r) {
    u32 v = only_normal((u32)r), magnitude = v & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return 0x7fc00000;
    if (e->flags & SOFT_OVERFLOW)
        return (v & 0x80000000) | 0x7f800000;
    return e->flags & SOFT_INEXACT && magnitude && magnitude < 0x7f800000 ? v | 1 : v;
}

static u32 odd_product(u32 a, u32 b) {
    SoftEnv e = {.rounding = SOFT_TO_ZERO, .flush = true};
    return odd_result(&e, soft_mul(&e, &soft_f32, only_normal(a), only_normal(b)));
}

static u32 odd_sum(u32 a, u32 b) {
    SoftEnv e = {.rounding = SOFT_TO_ZERO, .flush = true};
    return odd_result(&e, soft_add(&e, &soft_f32, only_normal(a), only_normal(b)));
}

u32 lathe_aarch64_bfdot(u32 sum, u32 a, u32 b) {
    u32 low = odd_product(a << 16, b << 16), high = odd_product(a & 0xffff0000, b & 0xffff0000);
    return odd_sum(sum, odd_sum(low, high));
}

const Helper a64_simd_helpers[] = {
    {"lathe_aarch64_bfdot", (void *)lathe_aarch64_bfdot},     {"lathe_aarch64_half", (void *)lathe_aarch64_half},
    {"lathe_aarch64_table", (void *)lathe_aarch64_table},     {"lathe_aarch64_urecpe", (void *)lathe_aarch64_urecpe},
    {"lathe_aarch64_ursqrte", (void *)lathe_aarch64_ursqrte}, {NULL, NULL},
};
