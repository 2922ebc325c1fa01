/* bits.c: fields, widths and masks that are known. */
#include <string.h>

#include "gallery.h"

static uint32_t words[256], out[256];
static void fill(void) {
    uint64_t seed = 21;
    if (words[0])
        return;
    for (int i = 0; i < 256; i++)
        words[i] = (uint32_t)next_number(&seed) * 3;
}
static uint64_t digest_of(const uint32_t *v, int n) {
    uint64_t d = 0;
    for (int i = 0; i < n; i += 3)
        d = mix(d, v[i]);
    return d;
}

KERNEL void unpack(uint32_t *to, const uint32_t *from, int count, int width) {
    uint64_t mask = ((uint64_t)1 << width) - 1;
    for (int i = 0; i < count; i++) {
        int at = i * width;
        uint64_t both = (uint64_t)from[at / 32 + 1] << 32 | from[at / 32];
        to[i] = (uint32_t)(both >> at % 32 & mask);
    }
}
static void fix_unpack(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 3, 11);
}
static uint64_t run_unpack(void *k) {
    fill();
    ((void (*)(uint32_t *, const uint32_t *, int, int))k)(out, words, 200, 11);
    return digest_of(out, 200);
}

typedef struct Field {
    uint8_t shift, bits, is_signed;
} Field;
typedef struct Layout {
    int count;
    Field field[6];
} Layout;
static Layout layout = {5, {{0, 7, 0}, {7, 5, 0}, {12, 3, 0}, {15, 5, 1}, {20, 12, 1}}};
KERNEL void decode(const Layout *l, uint32_t word, int32_t *to) {
    for (int i = 0; i < l->count; i++) {
        const Field *f = &l->field[i];
        uint32_t v = word >> f->shift & ((1u << f->bits) - 1);
        to[i] = f->is_signed && v >> (f->bits - 1) ? (int32_t)(v - (1u << f->bits)) : (int32_t)v;
    }
}
static void fix_decode(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_UINT32, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, &layout, sizeof(layout), BINOPT_MEM_CONST);
}
static uint64_t run_decode(void *k) {
    int32_t to[6] = {0};
    uint64_t d = 0;
    for (uint32_t i = 0; i < 40; i++) {
        ((void (*)(const Layout *, uint32_t, int32_t *))k)(&layout, i * 0x9e3779b9u, to);
        d = mix(d, (uint64_t)(to[0] + to[1] * 3 + to[2] * 5 + to[3] * 7 + to[4]));
    }
    return d;
}

KERNEL uint64_t registers(uint64_t state, uint64_t taps, int steps) {
    for (int i = 0; i < steps; i++)
        state = state >> 1 ^ (-(state & 1) & taps);
    return state;
}
static void fix_registers(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_UINT64, BINOPT_TY_UINT64, BINOPT_TY_UINT64, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, 0xd800000000000000u);
}
static uint64_t run_registers(void *k) {
    return ((uint64_t(*)(uint64_t, uint64_t, int))k)(12345, 0xd800000000000000u, 500);
}

KERNEL uint64_t interleave(const uint32_t *v, int n, int bits) {
    uint64_t d = 0;
    for (int i = 0; i + 1 < n; i += 2) {
        uint64_t r = 0;
        for (int b = 0; b < bits; b++)
            r |= (uint64_t)(v[i] >> b & 1) << 2 * b | (uint64_t)(v[i + 1] >> b & 1) << (2 * b + 1);
        d = d * 31 + r;
    }
    return d;
}
static void fix_interleave(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_UINT64, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 2, 10);
}
static uint64_t run_interleave(void *k) {
    fill();
    return ((uint64_t(*)(const uint32_t *, int, int))k)(words, 60, 10);
}

KERNEL int count_bits(const uint32_t *v, int n, uint32_t mask) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        for (uint32_t x = v[i] & mask; x; x &= x - 1)
            sum++;
    return sum;
}
static void fix_count_bits(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_UINT32);
    binopt_cfg_set_parami(cfg, 2, 0x00ff00ffu);
}
static uint64_t run_count_bits(void *k) {
    fill();
    return (uint64_t)((int (*)(const uint32_t *, int, uint32_t))k)(words, 100, 0x00ff00ffu);
}

/* Dates of packed times, with a known offset from UTC. */
KERNEL uint32_t date(uint32_t seconds, int32_t offset) {
    uint32_t days = (seconds + (uint32_t)offset) / 86400 + 719468, era = days / 146097, day = days - era * 146097;
    uint32_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365,
             of_year = day - (365 * year + year / 4 - year / 100);
    uint32_t month = (5 * of_year + 2) / 153;
    return (year + era * 400) << 9 | month << 5 | (of_year - (153 * month + 2) / 5 + 1);
}
static void fix_date(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_UINT32, BINOPT_TY_UINT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, 3600);
}
static uint64_t run_date(void *k) {
    uint64_t d = 0;
    for (uint32_t i = 0; i < 60; i++)
        d = mix(d, ((uint32_t(*)(uint32_t, int32_t))k)(i * 54321987u, 3600));
    return d;
}

const Kernel bits[] = {
    {"unpack bits", unpack, fix_unpack, run_unpack},
    {"decode fields", decode, fix_decode, run_decode},
    {"shift register", registers, fix_registers, run_registers},
    {"interleave bits", interleave, fix_interleave, run_interleave},
    {"count bits", count_bits, fix_count_bits, run_count_bits},
    {"date", date, fix_date, run_date},
    {0},
};
