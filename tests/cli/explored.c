/* explored.c: what tests of `lathe explore` look at: a loop, a call, a table of cases. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) unsigned mix(const unsigned char *text, unsigned count) {
    unsigned hash = 5381;
    for (unsigned i = 0; i < count; i++) {
        hash = hash * 33 + text[i];
        if (hash & 1)
            hash ^= hash >> 7;
    }
    return hash;
}

__attribute__((noinline)) int choose(unsigned kind, int x) {
    switch (kind) {
    case 0:
        return x + 1;
    case 1:
        return x * 3;
    case 2:
        return x / 7;
    case 3:
        return -x;
    case 4:
        return x ^ 85;
    case 5:
        return x << 3;
    default:
        return 0;
    }
}

int main(int argc, char **argv) {
    static unsigned char text[4096];
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 10, sum = 0;
    for (unsigned i = 0; i < sizeof(text); i++)
        text[i] = (unsigned char)(i * 7);
    for (unsigned i = 0; i < rounds; i++) {
        text[i % sizeof(text)] ^= (unsigned char)sum;
        sum += mix(text, sizeof(text)) + (unsigned)choose(i % 7, (int)sum);
    }
    printf("%u\n", sum);
    return 0;
}
