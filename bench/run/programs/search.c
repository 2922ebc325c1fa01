/* search.c: the C library's memchr, strlen and memcmp, which are written with vectors by hand. */
#include <stdio.h>
#include <string.h>

#include "work.h"

enum { BYTES = 16384 };

int main(int argc, char **argv) {
    static char text[BYTES], other[BYTES];
    uint32_t seed = 1;
    size_t sum = 0;
    memset(text, 'x', BYTES - 1);
    memcpy(other, text, BYTES);
    for (long n = work_amount(argc, argv, 500000); n; n--) {
        size_t at = work_random(&seed) % (BYTES - 1);
        text[at] = 'y';
        sum += (size_t)((char *)memchr(text, 'y', BYTES) - text) + (memcmp(text, other, BYTES) > 0);
        text[at] = 0;
        sum += strlen(text);
        text[at] = 'x';
    }
    printf("%zu\n", sum);
    return 0;
}
