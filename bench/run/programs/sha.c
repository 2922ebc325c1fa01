/* sha.c: SHA-256 of a long text: rotations and additions. The round constants are made up: only the work counts. */
#include <stdio.h>
#include <string.h>

#include "work.h"

static uint32_t constants[64];

static uint32_t rotate(uint32_t v, int n) {
    return v >> n | v << (32 - n);
}

static void block(uint32_t h[8], const uint8_t *p) {
    uint32_t w[64], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], k = h[7];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = k + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        k = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += k;
}

int main(int argc, char **argv) {
    static uint8_t text[1 << 16];
    uint32_t h[8] = {1, 2, 3, 4, 5, 6, 7, 8}, seed = 7;
    for (int i = 0; i < 64; i++)
        constants[i] = work_random(&seed);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)work_random(&seed);
    for (long n = work_amount(argc, argv, 3500); n; n--)
        for (size_t i = 0; i < sizeof(text); i += 64)
            block(h, text + i);
    printf("%08x%08x\n", h[0], h[7]);
    return 0;
}
