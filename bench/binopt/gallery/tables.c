/* tables.c: known tables: checksums, substitution, interpolation, rules. */
#include <string.h>

#include "gallery.h"

static uint8_t bytes[512];
static void fill(void) {
    if (bytes[8])
        return;
    for (int i = 0; i < 512; i++)
        bytes[i] = (uint8_t)(i * 31 >> 2);
}

static uint32_t crc_table[256];
KERNEL uint32_t crc_by_table(const uint32_t *t, const uint8_t *v, size_t n) {
    uint32_t c = ~0u;
    while (n--)
        c = t[(c ^ *v++) & 255] ^ c >> 8;
    return ~c;
}
static void fix_crc_table(BinoptCfgRef cfg) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        crc_table[i] = c;
    }
    binopt_cfg_type(cfg, 3, BINOPT_TY_UINT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_UINT64);
    binopt_cfg_set_paramp(cfg, 0, crc_table, sizeof(crc_table), BINOPT_MEM_CONST);
}
static uint64_t run_crc_table(void *k) {
    fill();
    return ((uint32_t(*)(const uint32_t *, const uint8_t *, size_t))k)(crc_table, bytes, 512);
}

KERNEL uint32_t crc_by_bits(uint32_t polynomial, int width, int reflected, const uint8_t *v, size_t n) {
    uint32_t c = ~0u >> (32 - width);
    for (size_t i = 0; i < n; i++) {
        c ^= reflected ? v[i] : (uint32_t)v[i] << (width - 8);
        for (int k = 0; k < 8; k++) {
            if (reflected)
                c = c & 1 ? polynomial ^ c >> 1 : c >> 1;
            else
                c = c >> (width - 1) & 1 ? polynomial ^ c << 1 : c << 1;
        }
    }
    return c;
}
static void fix_crc_bits(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 5, BINOPT_TY_UINT32, BINOPT_TY_UINT32, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_PTR,
                    BINOPT_TY_UINT64);
    binopt_cfg_set_parami(cfg, 0, 0x8408);
    binopt_cfg_set_parami(cfg, 1, 16);
    binopt_cfg_set_parami(cfg, 2, 1);
}
static uint64_t run_crc_bits(void *k) {
    fill();
    return ((uint32_t(*)(uint32_t, int, int, const uint8_t *, size_t))k)(0x8408, 16, 1, bytes, 128);
}

typedef struct Cipher {
    int rounds;
    uint8_t box[256], order[8];
    uint32_t key[8];
} Cipher;
static Cipher cipher = {.rounds = 4, .order = {3, 0, 5, 2, 7, 4, 1, 6}};
KERNEL void substitute(const Cipher *c, uint8_t *block) {
    for (int r = 0; r < c->rounds; r++) {
        uint8_t next[8];
        for (int i = 0; i < 8; i++)
            next[i] = c->box[block[c->order[i]] ^ (uint8_t)(c->key[r] >> (i % 4 * 8))];
        memcpy(block, next, 8);
    }
}
static void fix_substitute(BinoptCfgRef cfg) {
    for (int i = 0; i < 256; i++)
        cipher.box[i] = (uint8_t)(i * 167 + 13);
    for (uint32_t i = 0; i < 8; i++)
        cipher.key[i] = i * 0x9e3779b9u;
    binopt_cfg_type(cfg, 2, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, &cipher, sizeof(cipher), BINOPT_MEM_CONST);
}
static uint64_t run_substitute(void *k) {
    uint64_t block = 0x0123456789abcdefu;
    for (int i = 0; i < 20; i++)
        ((void (*)(const Cipher *, uint8_t *))k)(&cipher, (uint8_t *)&block);
    return block;
}

typedef struct Curve {
    int count;
    double x[8], y[8];
} Curve;
static Curve curve = {6, {0, 1, 2.5, 4, 7, 10}, {0, 2, 1, 5, 3, 8}};
KERNEL double interpolate(const Curve *c, double x) {
    if (x <= c->x[0])
        return c->y[0];
    for (int i = 1; i < c->count; i++)
        if (x < c->x[i])
            return c->y[i - 1] + (x - c->x[i - 1]) * (c->y[i] - c->y[i - 1]) / (c->x[i] - c->x[i - 1]);
    return c->y[c->count - 1];
}
static void fix_interpolate(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_DOUBLE, BINOPT_TY_PTR, BINOPT_TY_DOUBLE);
    binopt_cfg_set_paramp(cfg, 0, &curve, sizeof(curve), BINOPT_MEM_CONST);
}
static uint64_t run_interpolate(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 60; i++)
        d = mix_double(d, ((double (*)(const Curve *, double))k)(&curve, i % 23 * 0.5));
    return d;
}

typedef struct Packet {
    uint32_t from, to;
    uint16_t port;
    uint8_t protocol;
} Packet;
typedef struct Filter {
    uint32_t from, from_mask, to, to_mask;
    uint16_t low, high;
    uint8_t protocol;
    int verdict;
} Filter;
static Filter rules[12];
static Packet packets[64];
KERNEL int verdicts(const Filter *f, int count, const Packet *p, int n) {
    int accepted = 0;
    for (int i = 0; i < n; i++)
        for (int r = 0; r < count; r++)
            if ((p[i].from & f[r].from_mask) == f[r].from && (p[i].to & f[r].to_mask) == f[r].to &&
                p[i].port >= f[r].low && p[i].port <= f[r].high && (!f[r].protocol || p[i].protocol == f[r].protocol)) {
                accepted += f[r].verdict;
                break;
            }
    return accepted;
}
static void make_rules(void) {
    uint64_t seed = 9;
    for (uint32_t i = 0; i < 12; i++)
        rules[i] = (Filter){i << 24,
                            0xff000000u,
                            i % 3 ? 0 : 0x0a000000u,
                            i % 3 ? 0 : 0xff000000u,
                            (uint16_t)(i * 10),
                            (uint16_t)(500 + i),
                            i % 2 ? 6 : 0,
                            (int)i + 1};
    for (int i = 0; i < 64; i++)
        packets[i] = (Packet){(uint32_t)(next_number(&seed) % 14) << 24, 0x0a000001u,
                              (uint16_t)(next_number(&seed) % 600), next_number(&seed) % 2 ? 6 : 17};
}
static void fix_verdicts(BinoptCfgRef cfg) {
    make_rules();
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, rules, sizeof(rules), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, 12);
}
static uint64_t run_verdicts(void *k) {
    return (uint64_t)((int (*)(const Filter *, int, const Packet *, int))k)(rules, 12, packets, 64);
}

/* A loop with two ways back: tokens that are skipped, and those that count. */
typedef struct Lexer {
    uint8_t kind[256];
    int value[4];
} Lexer;
static Lexer lexer;
KERNEL int weigh(const Lexer *l, const uint8_t *v, int n) {
    int sum = 0;
    for (int i = 0; i < n;) {
        int kind = l->kind[v[i]];
        if (kind == 0) {
            i++;
            continue;
        }
        sum += l->value[kind];
        i += kind;
    }
    return sum;
}
static void fix_weigh(BinoptCfgRef cfg) {
    for (int i = 0; i < 256; i++)
        lexer.kind[i] = (uint8_t)(i % 5 < 3 ? i % 5 : 0);
    lexer.value[1] = 10, lexer.value[2] = 25;
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, &lexer, sizeof(lexer), BINOPT_MEM_CONST);
}
static uint64_t run_weigh(void *k) {
    fill();
    return (uint64_t)((int (*)(const Lexer *, const uint8_t *, int))k)(&lexer, bytes, 512);
}

const Kernel tables[] = {
    {"crc by table", crc_by_table, fix_crc_table, run_crc_table},
    {"crc by bits", crc_by_bits, fix_crc_bits, run_crc_bits},
    {"substitution", substitute, fix_substitute, run_substitute},
    {"interpolation", interpolate, fix_interpolate, run_interpolate},
    {"packet rules", verdicts, fix_verdicts, run_verdicts},
    {"lexer", weigh, fix_weigh, run_weigh},
    {0},
};
