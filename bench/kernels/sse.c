/* sse.c: vectors in the source. */
#include "kernels.h"

#include <emmintrin.h>

void KERNEL(sse_saxpy)(float *y, const float *x, float a, long n) {
    __m128 factor = _mm_set1_ps(a);
    for (long i = 0; i + 4 <= n; i += 4)
        _mm_storeu_ps(y + i, _mm_add_ps(_mm_loadu_ps(y + i), _mm_mul_ps(factor, _mm_loadu_ps(x + i))));
}

long KERNEL(sse_sum_bytes)(const unsigned char *p, long n) {
    __m128i sum = _mm_setzero_si128();
    for (long i = 0; i + 16 <= n; i += 16)
        sum = _mm_add_epi64(sum, _mm_sad_epu8(_mm_loadu_si128((const __m128i *)(p + i)), _mm_setzero_si128()));
    return _mm_cvtsi128_si64(sum) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(sum, sum));
}

long KERNEL(sse_find_byte)(const char *p, long n, int c) {
    __m128i wanted = _mm_set1_epi8((char)c);
    for (long i = 0; i + 16 <= n; i += 16) {
        int hits = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + i)), wanted));
        if (hits)
            return i + __builtin_ctz((unsigned)hits);
    }
    return -1;
}

double KERNEL(sse_dot)(const double *a, const double *b, long n) {
    __m128d sum = _mm_setzero_pd();
    for (long i = 0; i + 2 <= n; i += 2)
        sum = _mm_add_pd(sum, _mm_mul_pd(_mm_loadu_pd(a + i), _mm_loadu_pd(b + i)));
    return _mm_cvtsd_f64(_mm_add_sd(sum, _mm_unpackhi_pd(sum, sum)));
}
