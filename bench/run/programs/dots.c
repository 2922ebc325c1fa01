/* dots.c: dot products of bytes, of 16-bit integers and of floats in four lanes: vectors as compilers make them. */
#include <stdio.h>

#include "work.h"

enum { COUNT = 4096 };
typedef float Lanes __attribute__((vector_size(16)));
static int8_t left[COUNT], right[COUNT];
static int16_t low[COUNT], high[COUNT];
static Lanes a[COUNT / 4], b[COUNT / 4];

static int32_t of_bytes(void) {
    int32_t sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += left[i] * right[i];
    return sum;
}

static int32_t of_words(void) {
    int32_t sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += low[i] * high[i];
    return sum;
}

static float of_floats(void) {
    Lanes sum[4] = {{0}};
    for (int i = 0; i < COUNT / 4; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    Lanes all = sum[0] + sum[1] + sum[2] + sum[3];
    return all[0] + all[1] + all[2] + all[3];
}

int main(int argc, char **argv) {
    uint32_t seed = 1;
    int64_t sum = 0;
    for (int i = 0; i < COUNT; i++) {
        left[i] = (int8_t)work_random(&seed), right[i] = (int8_t)work_random(&seed);
        low[i] = (int16_t)(work_random(&seed) & 255), high[i] = (int16_t)(work_random(&seed) & 255);
        a[i / 4][i % 4] = (float)(work_random(&seed) & 15), b[i / 4][i % 4] = (float)(work_random(&seed) & 15);
    }
    for (long n = work_amount(argc, argv, 400000); n; n--) {
        sum += of_bytes() + of_words() + (int64_t)of_floats();
        left[n % COUNT] ^= (int8_t)sum;
        low[n % COUNT] = (int16_t)(sum & 255);
        a[n % (COUNT / 4)][n % 4] = (float)(sum & 7);
    }
    printf("%ld\n", sum);
    return 0;
}
