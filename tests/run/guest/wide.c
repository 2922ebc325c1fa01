/* wide.c: integers of 128 bits, and the multiplications and divisions they are made of. */
#include <stdint.h>
#include <stdio.h>

typedef unsigned __int128 u128;
typedef __int128 i128;

static u128 mix(u128 h, u128 v) {
    return (h ^ v) * 0x9e3779b97f4a7c15ull + (h >> 77);
}

int main(void) {
    u128 a = ((u128)0x0123456789abcdefull << 64) | 0xfedcba9876543210ull, h = 1;
    for (int i = 1; i < 3000; i++) {
        u128 b = mix(a, (u128)i) >> (i % 127);
        b += !b;
        i128 s = -(i128)(b >> 1) - 1;
        h = mix(h, a / b);
        h = mix(h, a % b);
        h = mix(h, (u128)((i128)a / s));
        h = mix(h, (u128)((i128)a % s));
        h = mix(h, a << (i % 128));
        h = mix(h, (u128)((i128)a >> (i % 128)));
        h += (a < b) + ((i128)a < s);
        uint64_t narrow = (uint64_t)b | 1;
        h = mix(h, (uint64_t)a / narrow + (uint64_t)a % narrow);
        h = mix(h, (u128)(uint64_t)((int64_t)a / (int64_t)narrow));
        h = mix(h, (u128)((uint32_t)a / ((uint32_t)narrow | 1)));
        h += (u128)(double)a % 1000003;
        a = mix(a, h);
    }
    printf("%016llx%016llx\n", (unsigned long long)(h >> 64), (unsigned long long)h);
    return 0;
}
