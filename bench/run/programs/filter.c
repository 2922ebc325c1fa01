/* filter.c: an image blurred and sharpened with SSE2 intrinsics, and its histogram. */
#include <emmintrin.h>
#include <stdio.h>
#include <string.h>

#include "work.h"

enum { W = 1024, H = 768 };
static uint8_t image[H][W], other[H][W];

/* Each pixel the average of its neighbours above and below, and left and right. */
static void blur(uint8_t to[H][W], uint8_t from[H][W]) {
    for (int y = 1; y < H - 1; y++)
        for (int x = 16; x < W - 16; x += 16) {
            __m128i up = _mm_loadu_si128((void *)&from[y - 1][x]), down = _mm_loadu_si128((void *)&from[y + 1][x]);
            __m128i left = _mm_loadu_si128((void *)&from[y][x - 1]), right = _mm_loadu_si128((void *)&from[y][x + 1]);
            _mm_storeu_si128((void *)&to[y][x], _mm_avg_epu8(_mm_avg_epu8(up, down), _mm_avg_epu8(left, right)));
        }
}

static void sharpen(uint8_t to[H][W], uint8_t from[H][W]) {
    __m128i zero = _mm_setzero_si128();
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x += 16) {
            __m128i v = _mm_loadu_si128((void *)&from[y][x]), old = _mm_loadu_si128((void *)&to[y][x]);
            __m128i low = _mm_sub_epi16(_mm_slli_epi16(_mm_unpacklo_epi8(v, zero), 1), _mm_unpacklo_epi8(old, zero));
            __m128i high = _mm_sub_epi16(_mm_slli_epi16(_mm_unpackhi_epi8(v, zero), 1), _mm_unpackhi_epi8(old, zero));
            _mm_storeu_si128((void *)&to[y][x], _mm_packus_epi16(low, high));
        }
}

int main(int argc, char **argv) {
    uint32_t seed = 1;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            image[y][x] = (uint8_t)(work_random(&seed) >> 8);
    for (long n = work_amount(argc, argv, 4000); n; n--) {
        blur(other, image);
        sharpen(image, other);
    }
    uint32_t histogram[256] = {0}, hash = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            histogram[image[y][x]]++;
    for (int i = 0; i < 256; i++)
        hash = hash * 31 + histogram[i];
    printf("%u\n", hash);
    return 0;
}
