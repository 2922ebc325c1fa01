/* aarch64_helpers.c: what LLVM calls for aarch64 guests, since the host has no instruction for it: exchanges of 128 bits at once.
 *
 * Such exchanges exclude each other by a lock. Others may see one half change before the other, as the guest's loads of pairs may, and what
 * atomic instructions on one half write meanwhile can be lost. */
#include "isa/aarch64/helpers.h"

enum { LOCKS = 64, LINE_SHIFT = 4 };

static u32 *lock_of(const u64 *pair) {
    static u32 locks[LOCKS];
    return &locks[(u64)pair >> LINE_SHIFT & (LOCKS - 1)];
}

static u64 load(const u64 *word) {
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* Pairs of words are passed as an integer of 128 bits is. */
static bool exchange_pair(u64 *pair, u64 *expected, u64 low, u64 high, int success, int failure) {
    (void)success, (void)failure; /* orders, of which this has the strongest */
    u32 *lock = lock_of(pair);
    __atomic_fetch_or(&pair[0], 0, __ATOMIC_RELAXED); /* what faults does so here, without the lock */
    __atomic_fetch_or(&pair[1], 0, __ATOMIC_RELAXED);
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {
    }
    u64 seen[2] = {load(&pair[0]), load(&pair[1])};
    bool same = seen[0] == expected[0] && seen[1] == expected[1];
    if (same) {
        __atomic_store_n(&pair[0], low, __ATOMIC_SEQ_CST);
        __atomic_store_n(&pair[1], high, __ATOMIC_SEQ_CST);
    }
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
    memcpy(expected, seen, sizeof(seen));
    return same;
}

const Helper a64_stencil_helpers[] = {{"__atomic_compare_exchange_16", (void *)exchange_pair}, {NULL, NULL}};
