/* blur.c: a picture is blurred, by 16-bit sums of bytes: vectors as compilers make them. */
#include <stdio.h>

#include "work.h"

enum { WIDTH = 640, HEIGHT = 360 };
static uint8_t picture[HEIGHT][WIDTH], blurred[HEIGHT][WIDTH];
static uint16_t rows[HEIGHT][WIDTH];

static void along(void) {
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 2; x < WIDTH - 2; x++)
            rows[y][x] = (uint16_t)(picture[y][x - 2] + 4 * picture[y][x - 1] + 6 * picture[y][x] +
                                    4 * picture[y][x + 1] + picture[y][x + 2]);
}

static void across(void) {
    for (int y = 2; y < HEIGHT - 2; y++)
        for (int x = 0; x < WIDTH; x++)
            blurred[y][x] = (uint8_t)((rows[y - 2][x] + 4 * rows[y - 1][x] + 6 * rows[y][x] + 4 * rows[y + 1][x] +
                                       rows[y + 2][x] + 128) >>
                                      8);
}

int main(int argc, char **argv) {
    uint32_t seed = 1;
    uint64_t sum = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            picture[y][x] = (uint8_t)work_random(&seed);
    for (long n = work_amount(argc, argv, 8000); n; n--) {
        along();
        across();
        picture[n % HEIGHT][n % WIDTH] = blurred[n * 7 % HEIGHT][n * 5 % WIDTH];
        sum += blurred[n * 3 % HEIGHT][n * 11 % WIDTH];
    }
    printf("%lu\n", sum);
    return 0;
}
