/* lz.c: compression by earlier occurrences, found through a hash table, and decompression. */
#include <stdio.h>
#include <string.h>

#include "work.h"

enum { SIZE = 1 << 20, HASH_BITS = 14 };
static uint8_t text[SIZE + 16], packed[2 * SIZE], again[SIZE + 16];
static int32_t last[1 << HASH_BITS];

static uint32_t hash(const uint8_t *p) {
    return (p[0] * 0x9e3779b1u ^ p[1] * 0x85ebca6bu ^ p[2] * 0xc2b2ae35u ^ p[3] * 0x27d4eb2fu) >> (32 - HASH_BITS);
}

/* Pieces of (literals, length, distance), one byte for each count. */
static size_t pack(void) {
    uint8_t *out = packed;
    size_t literal = 0;
    memset(last, -1, sizeof(last));
    for (size_t i = 0; i < SIZE;) {
        uint32_t h = hash(text + i);
        int32_t candidate = last[h];
        last[h] = (int32_t)i;
        size_t len = 0;
        if (candidate >= 0 && i - (size_t)candidate < 65536)
            while (len < 255 && i + len < SIZE && text[(size_t)candidate + len] == text[i + len])
                len++;
        if (len < 5 && i - literal < 255 && i + 1 < SIZE) {
            i++;
            continue;
        }
        if (len < 5)
            len = 0;
        *out++ = (uint8_t)(i - literal);
        memcpy(out, text + literal, i - literal);
        out += i - literal;
        size_t distance = len ? i - (size_t)candidate : 0;
        *out++ = (uint8_t)len;
        *out++ = (uint8_t)distance, *out++ = (uint8_t)(distance >> 8);
        i += len;
        literal = i;
        if (!len && i + 1 >= SIZE)
            break;
    }
    *out++ = (uint8_t)(SIZE - literal);
    memcpy(out, text + literal, SIZE - literal);
    return (size_t)(out + (SIZE - literal) - packed);
}

static size_t unpack(size_t size) {
    uint8_t *out = again;
    for (const uint8_t *p = packed; p < packed + size;) {
        size_t literals = *p++;
        memcpy(out, p, literals);
        out += literals, p += literals;
        if (p >= packed + size)
            break;
        size_t len = *p++, distance = p[0] | (size_t)p[1] << 8;
        p += 2;
        for (size_t i = 0; i < len; i++, out++)
            *out = out[-(ptrdiff_t)distance];
    }
    return (size_t)(out - again);
}

int main(int argc, char **argv) {
    uint32_t seed = 3;
    static const char *const words[] = {"the ",        "of ", "guest ", "host ",    "code ",
                                        "translated ", "a ",  "and ",   "register "};
    for (size_t at = 0; at < SIZE;) {
        const char *w = words[work_random(&seed) % 9];
        size_t n = strlen(w);
        memcpy(text + at, w, n < SIZE - at ? n : SIZE - at);
        at += n;
        if (at < SIZE && work_random(&seed) % 3 == 0)
            text[at++] = (uint8_t)work_random(&seed);
    }
    size_t size = 0, back = 0;
    for (long n = work_amount(argc, argv, 90); n; n--) {
        size = pack();
        back = unpack(size);
    }
    printf("%zu %zu %s\n", size, back, memcmp(text, again, SIZE) ? "different" : "same");
    return 0;
}
