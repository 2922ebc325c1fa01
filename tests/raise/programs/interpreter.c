/* An interpreter with 128 operations, each of which jumps to the next one by itself: 16384 ways within one function. */
#include <stdint.h>
#include <stdio.h>

#define EIGHT(x, n) x(n##0) x(n##1) x(n##2) x(n##3) x(n##4) x(n##5) x(n##6) x(n##7)
#define ALL(x) EIGHT(x, 0) EIGHT(x, 1) EIGHT(x, 2) EIGHT(x, 3) EIGHT(x, 4) EIGHT(x, 5) EIGHT(x, 6) EIGHT(x, 7)
#define FIRST(n) &&a##n,
#define SECOND(n) &&b##n,
#define NEXT goto *places[code[pc++ & 255] & 127]

/* Numbers are octal, from 00 to 077. */
#define DO_FIRST(n)                                                                                                    \
    a##n : x = x * (2 * 0##n + 3) + y;                                                                                 \
    z ^= x >> (0##n & 15);                                                                                             \
    NEXT;
#define DO_SECOND(n)                                                                                                   \
    b##n : y += x ^ (uint64_t)0##n << 7;                                                                               \
    d = d * 0.5 + 0##n;                                                                                                \
    if (!--left)                                                                                                       \
        goto end;                                                                                                      \
    NEXT;

static uint64_t run(const uint8_t *code, uint64_t left) {
    static const void *const places[] = {ALL(FIRST) ALL(SECOND)};
    uint64_t x = 1, y = 2, z = 3, pc = 0;
    double d = 1;
    NEXT;
    ALL(DO_FIRST)
    ALL(DO_SECOND)
end:
    return x ^ y ^ z ^ (uint64_t)(d * 1000);
}

int main(void) {
    uint8_t code[256];
    uint64_t seed = 7;
    for (int n = 0; n < 5; n++) {
        for (int i = 0; i < 256; i++)
            code[i] = (uint8_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
        printf("%lx\n", run(code, 1000 + (uint64_t)n));
    }
    return 0;
}
