/* pixels.c: what video encoders spend their time on, over blocks of pixels: differences, a transform, interpolation. Compilers make
 * vectors of the widest kind of it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { WIDTH = 512, HEIGHT = 256, BLOCK = 16 };
static uint8_t frame[HEIGHT + BLOCK][WIDTH + BLOCK], before[HEIGHT + BLOCK][WIDTH + BLOCK], half[HEIGHT][WIDTH];
static int16_t coefficients[HEIGHT / 8][WIDTH / 8][8][8];

static int difference(int x, int y, int dx, int dy) {
    int sum = 0;
    for (int i = 0; i < BLOCK; i++)
        for (int j = 0; j < BLOCK; j++)
            sum += abs(frame[y + i][x + j] - before[y + i + dy][x + j + dx]);
    return sum;
}

/* The best of the places around, for each block. */
static long search(void) {
    long total = 0;
    for (int y = 0; y < HEIGHT; y += BLOCK)
        for (int x = 0; x < WIDTH; x += BLOCK) {
            int best = 1 << 30;
            for (int dy = 0; dy < 4; dy++)
                for (int dx = 0; dx < 4; dx++) {
                    int d = difference(x, y, dx, dy);
                    best = d < best ? d : best;
                }
            total += best;
        }
    return total;
}

static void interpolate(void) {
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            half[y][x] =
                (uint8_t)((frame[y][x] + 3 * frame[y][x + 1] + 3 * frame[y + 1][x] + frame[y + 1][x + 1] + 4) >> 3);
}

static void transform(const uint8_t *pixels, int16_t out[8][8]) {
    int rows[8][8];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            int k = j & 3, a = pixels[i * WIDTH + k], b = pixels[i * WIDTH + 7 - k];
            rows[i][j] = j < 4 ? a + b : (a - b) * (k + 1);
        }
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 8; i++)
            out[i][j] = (int16_t)((i & 1 ? rows[i][j] - rows[i ^ 1][j] : rows[i][j] + rows[i ^ 1][j]) * (i + 2) >> 2);
}

static long transform_all(void) {
    long sum = 0;
    for (int y = 0; y < HEIGHT / 8; y++)
        for (int x = 0; x < WIDTH / 8; x++) {
            transform(&half[8 * y][8 * x], coefficients[y][x]);
            sum += coefficients[y][x][1][2];
        }
    return sum;
}

int main(int argc, char **argv) {
    uint32_t seed = 1;
    long sum = 0;
    for (int y = 0; y < HEIGHT + BLOCK; y++)
        for (int x = 0; x < WIDTH + BLOCK; x++) {
            uint32_t noise = work_random(&seed);
            frame[y][x] = (uint8_t)(x + y + (noise & 15)), before[y][x] = (uint8_t)(x + y + 3 + (noise >> 8 & 7));
        }
    for (long n = work_amount(argc, argv, 4000); n; n--) {
        sum += search();
        interpolate();
        sum += transform_all();
        frame[n % HEIGHT][n % WIDTH] ^= (uint8_t)sum;
    }
    printf("%ld\n", sum);
    return 0;
}
