/* sse.c: vector intrinsics of SSE and SSE2, and MMX, checked by sums of their results. */
#include <emmintrin.h>
#include <mmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t mix(uint64_t h, __m128i v) {
    uint64_t half[2];
    memcpy(half, &v, sizeof(half));
    return (h ^ half[0]) * 0x100000001b3ull ^ half[1] * 0x9e3779b97f4a7c15ull;
}

#define BITS(v) ((__m128i)(v))

static void integers(__m128i a, __m128i b) {
    uint64_t h = 1;
    for (int i = 0; i < 2000; i++) {
        h = mix(h, _mm_add_epi8(a, b));
        h = mix(h, _mm_subs_epu16(a, b));
        h = mix(h, _mm_mullo_epi16(a, b));
        h = mix(h, _mm_mulhi_epi16(a, b));
        h = mix(h, _mm_madd_epi16(a, b));
        h = mix(h, _mm_sad_epu8(a, b));
        h = mix(h, _mm_packs_epi32(a, b));
        h = mix(h, _mm_packus_epi16(a, b));
        h = mix(h, _mm_unpackhi_epi8(a, b));
        h = mix(h, _mm_cmpgt_epi16(a, b));
        h = mix(h, _mm_avg_epu8(a, b));
        h = mix(h, _mm_max_epi16(a, b));
        h = mix(h, _mm_srai_epi32(a, 5));
        h = mix(h, _mm_sll_epi64(a, _mm_cvtsi32_si128(i & 70)));
        h = mix(h, _mm_shuffle_epi32(a, 0x1b));
        h = mix(h, _mm_shufflelo_epi16(b, 0x4e));
        h = mix(h, _mm_mul_epu32(a, b));
        h = mix(h, _mm_slli_si128(a, 3));
        h += (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
        h += (uint64_t)_mm_extract_epi16(a, 3);
        a = _mm_add_epi64(_mm_mul_epu32(a, b), _mm_set1_epi32(i * 77777));
        b = _mm_xor_si128(_mm_andnot_si128(a, b), _mm_srli_epi64(a, 9));
        b = _mm_or_si128(b, _mm_set1_epi16(257));
    }
    printf("integers %016llx\n", (unsigned long long)h);
}

static void floats(void) {
    uint64_t h = 2;
    __m128 a = _mm_set_ps(1.5f, -2.25f, 1e-10f, 3e10f), b = _mm_set_ps(0.1f, 7.0f, -3.5f, 2.0f);
    __m128d c = _mm_set_pd(1.0 / 3, -1e100), d = _mm_set_pd(2.5, 1e-5);
    for (int i = 0; i < 2000; i++) {
        h = mix(h, BITS(_mm_add_ps(a, b)));
        h = mix(h, BITS(_mm_mul_ps(a, b)));
        h = mix(h, BITS(_mm_div_ps(a, b)));
        h = mix(h, BITS(_mm_sqrt_ps(_mm_mul_ps(a, a))));
        h = mix(h, BITS(_mm_min_ps(a, b)));
        h = mix(h, BITS(_mm_cmplt_ps(a, b)));
        h = mix(h, BITS(_mm_shuffle_ps(a, b, 0x72)));
        h = mix(h, BITS(_mm_unpacklo_ps(a, b)));
        h = mix(h, BITS(_mm_sub_pd(c, d)));
        h = mix(h, BITS(_mm_div_pd(c, d)));
        h = mix(h, BITS(_mm_max_sd(c, d)));
        h = mix(h, BITS(_mm_cvtps_pd(b)));
        h = mix(h, BITS(_mm_cvtpd_ps(d)));
        h = mix(h, _mm_cvttps_epi32(b));
        h = mix(h, _mm_cvtpd_epi32(d));
        h = mix(h, BITS(_mm_cvtepi32_ps(_mm_set1_epi32(i - 1000))));
        h += (uint64_t)_mm_movemask_ps(a) + (uint64_t)_mm_comilt_sd(c, d);
        a = _mm_add_ps(_mm_mul_ps(a, _mm_set1_ps(0.999f)), _mm_set1_ps((float)i * 0.5f - 400.0f));
        d = _mm_add_pd(d, _mm_set_pd(0.125, -0.375));
        c = _mm_mul_pd(c, _mm_set1_pd(-0.75));
    }
    printf("floats %016llx\n", (unsigned long long)h);
}

static void mmx(void) {
    __m64 a = _mm_set_pi16(1, -2, 30000, 400), b = _mm_set_pi16(500, 6, 7000, -8);
    uint64_t h = 3, v;
    for (int i = 0; i < 500; i++) {
        __m64 r = _mm_xor_si64(_mm_adds_pi16(a, b), _mm_mullo_pi16(a, b));
        r = _mm_add_pi32(r, _mm_madd_pi16(a, b));
        r = _mm_or_si64(r, _mm_packs_pi16(a, _mm_srli_pi16(b, 2)));
        memcpy(&v, &r, 8);
        h = h * 31 + v;
        a = _mm_unpacklo_pi8(r, b);
        b = _mm_sub_pi8(b, _mm_cmpgt_pi16(r, a));
    }
    _mm_empty();
    volatile long double after = 1.5L; /* the x87 stack must be in order again */
    printf("mmx %016llx %.2Lf\n", (unsigned long long)h, after * 3);
}

static void rounding(void) {
    volatile float third = 1.0f, by = 3.0f;
    for (unsigned mode = 0; mode < 4; mode++) {
        _mm_setcsr((_mm_getcsr() & ~0x6000u) | mode << 13);
        volatile float r = third / by;
        int n = _mm_cvtsd_si32(_mm_set_sd(2.5));
        _mm_setcsr(_mm_getcsr() & ~0x6000u);
        printf("rounding %u: %a %d\n", mode, r, n);
    }
    _mm_setcsr(_mm_getcsr() | 0x8040); /* flush to zero */
    volatile float small = 1e-38f, gone = small * 0.01f;
    _mm_setcsr(_mm_getcsr() & ~0x8040u);
    volatile float kept = small * 0.01f;
    printf("flushed %d, kept %d\n", gone == 0, kept != 0);
}

int main(void) {
    integers(_mm_set_epi32(1, 20000000, -3, 0x12345678), _mm_set_epi32(0x7fffffff, 5, -600, 70));
    floats();
    mmx();
    rounding();
    return 0;
}
