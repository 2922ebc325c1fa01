/* random.h: a small deterministic random source: equal seeds give equal samples on every machine. */
#ifndef FUZZ_RANDOM_H
#define FUZZ_RANDOM_H

#include "base/base.h"

typedef struct Rng {
    u64 state;
} Rng;

static inline u64 rng_next(Rng *r) {
    u64 x = r->state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* 0 … n - 1 */
static inline u32 rng_below(Rng *r, u32 n) {
    return (u32)((rng_next(r) >> 32) * n >> 32);
}

/* True once in n times. */
static inline bool rng_once_in(Rng *r, u32 n) {
    return rng_below(r, n) == 0;
}

static inline void rng_fill(Rng *r, void *out, size_t size) {
    for (u8 *at = out; size; size--)
        *at++ = (u8)rng_next(r);
}

#endif
