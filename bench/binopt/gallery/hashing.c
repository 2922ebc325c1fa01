/* hashing.c: hash tables with known functions, sizes and keys. */
#include <string.h>

#include "gallery.h"

typedef uint32_t Hash(const char *key);
typedef struct Entry {
    const char *key;
    int value;
} Entry;
enum { SLOTS = 64, KEYS = 24 };
static Entry slots[SLOTS];
static const char *const keys[KEYS] = {"alpha", "beta",  "gamma",  "delta", "epsilon", "zeta", "eta",     "theta",
                                       "iota",  "kappa", "lambda", "mu",    "nu",      "xi",   "omicron", "pi",
                                       "rho",   "sigma", "tau",    "phi",   "chi",     "psi",  "omega",   "digamma"};

static uint32_t fnv(const char *key) {
    uint32_t h = 2166136261u;
    for (; *key; key++)
        h = (h ^ (uint8_t)*key) * 16777619u;
    return h;
}
static void fill(void) {
    if (slots[fnv("alpha") & (SLOTS - 1)].key)
        return;
    for (int i = 0; i < KEYS; i++) {
        uint32_t at = fnv(keys[i]);
        while (slots[at & (SLOTS - 1)].key)
            at++;
        slots[at & (SLOTS - 1)] = (Entry){keys[i], i};
    }
}

KERNEL int lookup(const Entry *t, uint32_t mask, Hash *hash, const char *key) {
    for (uint32_t at = hash(key);; at++) {
        const Entry *e = &t[at & mask];
        if (!e->key)
            return -1;
        if (!strcmp(e->key, key))
            return e->value;
    }
}
static void type_lookup(BinoptCfgRef cfg) {
    fill();
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_UINT32, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 1, SLOTS - 1);
    binopt_cfg_set_parami(cfg, 2, (size_t)fnv);
}
static void fix_lookup(BinoptCfgRef cfg) {
    type_lookup(cfg);
    binopt_cfg_set_paramp(cfg, 0, slots, sizeof(slots), BINOPT_MEM_CONST);
}
static uint64_t run_lookup(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < KEYS; i++)
        d = mix(d,
                (uint64_t)((int (*)(const Entry *, uint32_t, Hash *, const char *))k)(slots, SLOTS - 1, fnv, keys[i]));
    return d;
}
static void fix_one_key(BinoptCfgRef cfg) {
    type_lookup(cfg);
    binopt_cfg_set_parami(cfg, 3, (size_t)keys[5]);
}
static uint64_t run_one_key(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 30; i++)
        d = mix(d,
                (uint64_t)((int (*)(const Entry *, uint32_t, Hash *, const char *))k)(slots, SLOTS - 1, fnv, keys[5]));
    return d;
}

#define TURN(x, n) ((x) << (n) | (x) >> (64 - (n)))
KERNEL uint64_t keyed(const uint64_t *secret, const uint8_t *bytes, size_t size, int rounds) {
    uint64_t a = secret[0], b = secret[1], c = a ^ 0x736f6d65u, d = b ^ 0x7465646bu;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint64_t m;
        memcpy(&m, bytes + i, 8);
        d ^= m;
        for (int r = 0; r < rounds; r++) {
            a += b, b = TURN(b, 13) ^ a, a = TURN(a, 32);
            c += d, d = TURN(d, 16) ^ c;
            a += d, d = TURN(d, 21) ^ a;
            c += b, b = TURN(b, 17) ^ c, c = TURN(c, 32);
        }
        a ^= m;
    }
    return a ^ b ^ c ^ d;
}
static uint64_t secret[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
static uint8_t message[256];
static void fix_keyed(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_UINT64, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_UINT64, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, secret, sizeof(secret), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 3, 2);
}
static uint64_t run_keyed(void *k) {
    for (int i = 0; i < 256 && !message[1]; i++)
        message[i] = (uint8_t)(i * 7);
    return ((uint64_t(*)(const uint64_t *, const uint8_t *, size_t, int))k)(secret, message, 256, 2);
}

KERNEL int insert_all(uint32_t *set, uint32_t buckets, const uint32_t *v, int n) {
    int fresh = 0;
    for (int i = 0; i < n; i++) {
        uint32_t at = v[i] * 2654435761u % buckets;
        while (set[at] && set[at] != v[i])
            at = at + 1 == buckets ? 0 : at + 1;
        fresh += !set[at];
        set[at] = v[i];
    }
    return fresh;
}
static void fix_insert_all(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_UINT32, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, 331);
}
static uint64_t run_insert_all(void *k) {
    static uint32_t set[331], v[200];
    uint64_t seed = 3;
    memset(set, 0, sizeof(set));
    for (int i = 0; i < 200 && !v[199]; i++)
        v[i] = (uint32_t)(1 + next_number(&seed) % 500);
    return (uint64_t)((int (*)(uint32_t *, uint32_t, const uint32_t *, int))k)(set, 331, v, 200);
}

typedef struct Bloom {
    int hashes, bits;
    uint32_t factor[4];
} Bloom;
static Bloom bloom = {3, 1000, {2654435761u, 40503u, 2246822519u, 3266489917u}};
KERNEL int in_bloom(const Bloom *b, uint8_t *field, const uint32_t *v, int n) {
    int seen = 0;
    for (int i = 0; i < n; i++) {
        int all = 1;
        for (int h = 0; h < b->hashes; h++) {
            uint32_t at = (v[i] * b->factor[h] >> 7) % (uint32_t)b->bits;
            all &= field[at / 8] >> at % 8;
            field[at / 8] |= (uint8_t)(1 << at % 8);
        }
        seen += all & 1;
    }
    return seen;
}
static void fix_in_bloom(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, &bloom, sizeof(bloom), BINOPT_MEM_CONST);
}
static uint64_t run_in_bloom(void *k) {
    uint8_t field[128] = {0};
    uint32_t v[100];
    for (uint32_t i = 0; i < 100; i++)
        v[i] = i * i % 83;
    return (uint64_t)((int (*)(const Bloom *, uint8_t *, const uint32_t *, int))k)(&bloom, field, v, 100);
}

const Kernel hashing[] = {
    {"hash lookup", lookup, fix_lookup, run_lookup},
    {"hash lookup, one key", lookup, fix_one_key, run_one_key},
    {"keyed hash", keyed, fix_keyed, run_keyed},
    {"hash insert", insert_all, fix_insert_all, run_insert_all},
    {"bloom filter", in_bloom, fix_in_bloom, run_in_bloom},
    {0},
};
