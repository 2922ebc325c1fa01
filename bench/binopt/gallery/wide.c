/* wide.c: integers that are wider than registers. */
#include <string.h>

#include "gallery.h"

typedef unsigned __int128 U128;

KERNEL uint64_t power_mod(uint64_t base, uint64_t exponent, uint64_t modulus) {
    uint64_t r = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            r = (uint64_t)((U128)r * base % modulus);
        base = (uint64_t)((U128)base * base % modulus);
    }
    return r;
}
static void type_three(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_UINT64, BINOPT_TY_UINT64, BINOPT_TY_UINT64, BINOPT_TY_UINT64);
}
static void fix_modulus(BinoptCfgRef cfg) {
    type_three(cfg);
    binopt_cfg_set_parami(cfg, 2, 0xffffffffffffffc5u);
}
static void fix_exponent(BinoptCfgRef cfg) {
    type_three(cfg);
    binopt_cfg_set_parami(cfg, 1, 65537);
}
typedef uint64_t Three(uint64_t, uint64_t, uint64_t);
static uint64_t run_modulus(void *k) {
    uint64_t d = 0;
    for (uint64_t i = 0; i < 3; i++)
        d = mix(d, ((Three *)k)(i * 0x123456789abcdefu + 3, 0xfedcba987 + i, 0xffffffffffffffc5u));
    return d;
}
static uint64_t run_exponent(void *k) {
    uint64_t d = 0;
    for (uint64_t i = 0; i < 6; i++)
        d = mix(d, ((Three *)k)(i * 0x123456789abcdefu + 3, 65537, 0xffffffffffffffc5u));
    return d;
}

static uint64_t reduce(U128 t, uint64_t n, uint64_t inverse) {
    uint64_t m = (uint64_t)t * inverse;
    U128 product = (U128)m * n;
    uint64_t high = (uint64_t)(t >> 64), other = (uint64_t)(product >> 64), carry = (uint64_t)t != 0;
    U128 sum = (U128)high + other + carry;
    return (uint64_t)(sum >= n ? sum - n : sum);
}
KERNEL uint64_t montgomery(uint64_t x, int count, uint64_t n, uint64_t inverse) {
    uint64_t r = x;
    for (int i = 0; i < count; i++)
        r = reduce((U128)r * x, n, inverse);
    return r;
}
static void fix_montgomery(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_UINT64, BINOPT_TY_UINT64, BINOPT_TY_INT32, BINOPT_TY_UINT64, BINOPT_TY_UINT64);
    binopt_cfg_set_parami(cfg, 2, 1000000007);
    binopt_cfg_set_parami(cfg, 3, 0x1234567890abcdefu);
}
static uint64_t run_montgomery(void *k) {
    return ((uint64_t(*)(uint64_t, int, uint64_t, uint64_t))k)(123456789, 200, 1000000007, 0x1234567890abcdefu);
}

KERNEL uint64_t add_wide(uint64_t *r, const uint64_t *a, const uint64_t *b, int n) {
    U128 carry = 0;
    for (int i = 0; i < n; i++) {
        carry += (U128)a[i] + b[i];
        r[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return (uint64_t)carry;
}
KERNEL uint64_t multiply_wide(uint64_t *r, const uint64_t *a, const uint64_t *b, int n) {
    memset(r, 0, (size_t)n * 16);
    for (int i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < n; j++) {
            U128 t = (U128)a[i] * b[j] + r[i + j] + carry;
            r[i + j] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        r[i + n] = carry;
    }
    return r[2 * n - 1];
}
static uint64_t first[16], second[16], result[32];
static void fix_length(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_UINT64, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 3, 8);
}
static void fix_factor(BinoptCfgRef cfg) {
    fix_length(cfg);
    uint64_t seed = 5;
    for (int i = 0; i < 8; i++)
        second[i] = next_number(&seed) << 33 ^ next_number(&seed);
    binopt_cfg_set_paramp(cfg, 2, second, sizeof(second), BINOPT_MEM_CONST);
}
static uint64_t run_limbs(void *k) {
    uint64_t d = 0;
    for (uint64_t i = 0; i < 8; i++)
        first[i] = ~(i * 0x9e3779b97f4a7c15u);
    if (!second[0])
        second[0] = second[7] = 77;
    for (int i = 0; i < 10; i++) {
        d = mix(d, ((uint64_t(*)(uint64_t *, const uint64_t *, const uint64_t *, int))k)(result, first, second, 8));
        first[i & 7] ^= d;
    }
    return mix(d, result[3]);
}

KERNEL uint64_t hash_wide(const uint64_t *v, int n, uint64_t lowest, uint64_t highest) {
    U128 h = 1, factor = (U128)highest << 64 | lowest;
    for (int i = 0; i < n; i++)
        h = h * factor + v[i];
    return (uint64_t)(h >> 64) ^ (uint64_t)h;
}
static void fix_hash_wide(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_UINT64, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_UINT64, BINOPT_TY_UINT64);
    binopt_cfg_set_parami(cfg, 2, 0x14057b7ef767814fu);
    binopt_cfg_set_parami(cfg, 3, 0x5851f42d4c957f2du);
}
static uint64_t run_hash_wide(void *k) {
    uint64_t v[100];
    for (uint64_t i = 0; i < 100; i++)
        v[i] = i * i;
    return ((uint64_t(*)(const uint64_t *, int, uint64_t, uint64_t))k)(v, 100, 0x14057b7ef767814fu,
                                                                       0x5851f42d4c957f2du);
}

KERNEL void scale(int64_t *v, int n, int64_t by, int shift) {
    for (int i = 0; i < n; i++)
        v[i] = (int64_t)((__int128)v[i] * by >> shift);
}
static void fix_scale(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT64, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 2, 3217);
    binopt_cfg_set_parami(cfg, 3, 10);
}
static uint64_t run_scale(void *k) {
    int64_t v[100];
    for (int i = 0; i < 100; i++)
        v[i] = (int64_t)i * 0x123456789 - 0x5000000000;
    ((void (*)(int64_t *, int, int64_t, int))k)(v, 100, 3217, 10);
    return mix(mix(0, (uint64_t)v[3]), (uint64_t)v[97]);
}

KERNEL uint64_t divide_wide(uint64_t *limbs, int n, uint64_t divisor) {
    U128 rest = 0;
    for (int i = n - 1; i >= 0; i--) {
        rest = rest << 64 | limbs[i];
        limbs[i] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
    return (uint64_t)rest;
}
static void fix_divide_wide(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_UINT64, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_UINT64);
    binopt_cfg_set_parami(cfg, 2, 1000000007);
}
static uint64_t run_divide_wide(void *k) {
    uint64_t limbs[16], d = 0;
    for (uint64_t i = 0; i < 16; i++)
        limbs[i] = ~i * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 4; i++)
        d = mix(d, ((uint64_t(*)(uint64_t *, int, uint64_t))k)(limbs, 16, 1000000007));
    return d;
}

const Kernel wide[] = {
    {"power, known modulus", power_mod, fix_modulus, run_modulus},
    {"power, known exponent", power_mod, fix_exponent, run_exponent},
    {"montgomery", montgomery, fix_montgomery, run_montgomery},
    {"add limbs", add_wide, fix_length, run_limbs},
    {"multiply limbs", multiply_wide, fix_length, run_limbs},
    {"multiply known limbs", multiply_wide, fix_factor, run_limbs},
    {"hash of 128 bits", hash_wide, fix_hash_wide, run_hash_wide},
    {"scale by a fraction", scale, fix_scale, run_scale},
    {"divide limbs", divide_wide, fix_divide_wide, run_divide_wide},
    {0},
};
