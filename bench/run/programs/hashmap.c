/* hashmap.c: a hash table with random access to more memory than the caches hold. */
#include <stdio.h>

#include "work.h"

typedef struct Entry {
    uint64_t key, value;
} Entry;

enum { BITS = 19 };
static Entry table[1 << BITS];

static uint64_t mix(uint64_t k) {
    k ^= k >> 33, k *= 0xff51afd7ed558ccdull, k ^= k >> 33, k *= 0xc4ceb9fe1a85ec53ull;
    return k ^ k >> 33;
}

static Entry *find(uint64_t key) {
    uint64_t i = mix(key) >> (64 - BITS);
    while (table[i].key && table[i].key != key)
        i = (i + 1) & ((1 << BITS) - 1);
    return &table[i];
}

int main(int argc, char **argv) {
    uint32_t seed = 13;
    uint64_t sum = 0;
    for (long n = work_amount(argc, argv, 22000000); n; n--) {
        uint64_t key = work_random(&seed) % (300000 + (n & 3)) + 1;
        Entry *e = find(key);
        e->key = key;
        e->value += (uint64_t)n;
        sum += e->value;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
