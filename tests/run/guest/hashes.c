/* hashes.c: SHA-256, CRC-32 and Adler-32 of known texts. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t round_constant[64];

/* The first 32 bits of the fractional parts of the cube roots of the first primes. */
static void make_constants(void) {
    int n = 0;
    for (unsigned p = 2; n < 64; p++) {
        int prime = 1;
        for (unsigned d = 2; d * d <= p; d++)
            prime &= p % d != 0;
        if (!prime)
            continue;
        /* the cube root of p * 2^96, by bisection */
        unsigned __int128 low = 0, high = (unsigned __int128)8 << 32;
        while (high - low > 1) {
            unsigned __int128 mid = (low + high) / 2;
            if (mid * mid * mid <= (unsigned __int128)p << 96)
                low = mid;
            else
                high = mid;
        }
        round_constant[n++] = (uint32_t)low;
    }
}

static uint32_t rotate(uint32_t v, int n) {
    return v >> n | v << (32 - n);
}

static void block(uint32_t h[8], const uint8_t *p) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, h, sizeof(s));
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constant[i] + w[i];
        uint32_t t2 =
            (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof(*s));
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

static void sha256(const uint8_t *text, size_t n) {
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t last[128] = {0};
    size_t whole = n / 64 * 64, rest = n - whole, size = rest < 56 ? 64 : 128;
    for (size_t i = 0; i < whole; i += 64)
        block(h, text + i);
    memcpy(last, text + whole, rest);
    last[rest] = 0x80;
    for (int i = 0; i < 8; i++)
        last[size - 1 - (size_t)i] = (uint8_t)((uint64_t)n * 8 >> 8 * i);
    for (size_t i = 0; i < size; i += 64)
        block(h, last + i);
    for (int i = 0; i < 8; i++)
        printf("%08x", h[i]);
    printf("\n");
}

static uint32_t crc32(const uint8_t *p, size_t n) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static uint32_t adler32(const uint8_t *p, size_t n) {
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

int main(void) {
    static uint8_t text[100003];
    make_constants();
    sha256((const uint8_t *)"abc", 3);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(i * i >> 3);
    for (size_t n = 50; n < 70; n++)
        sha256(text, n);
    sha256(text, sizeof(text));
    printf("%08x %08x\n", crc32((const uint8_t *)"123456789", 9), crc32(text, sizeof(text)));
    printf("%08x %08x\n", adler32((const uint8_t *)"Wikipedia", 9), adler32(text, sizeof(text)));
    return 0;
}
