/* saxpy.c: vectors of floats by SSE intrinsics: sums, products, minima and square roots. */
#include <stdio.h>
#include <xmmintrin.h>

#include "work.h"

enum { N = 4096 };
static float x[N] __attribute__((aligned(16))), y[N] __attribute__((aligned(16)));

int main(int argc, char **argv) {
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 100) * 0.25f, y[i] = (float)(i % 37);
    __m128 total = _mm_setzero_ps();
    for (long n = work_amount(argc, argv, 400000); n; n--) {
        __m128 a = _mm_set1_ps((float)(n % 7) * 0.125f), b = _mm_set1_ps(0.5f), low = _mm_set1_ps(50.0f);
        for (int i = 0; i < N; i += 4) {
            __m128 v = _mm_add_ps(_mm_mul_ps(a, _mm_load_ps(x + i)), _mm_mul_ps(b, _mm_load_ps(y + i)));
            v = _mm_min_ps(v, low);
            _mm_store_ps(y + i, v);
            total = _mm_add_ps(total, v);
        }
        total = _mm_sqrt_ps(total);
    }
    float out[4];
    _mm_storeu_ps(out, total);
    printf("%.4f %.4f\n", (double)(out[0] + out[1] + out[2] + out[3]), (double)y[77]);
    return 0;
}
