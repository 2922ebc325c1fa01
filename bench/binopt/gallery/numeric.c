/* numeric.c: arithmetic with known divisors, coefficients and parameters. */
#include <math.h>

#include "gallery.h"

static uint32_t v[200];
static double x[200], y[200];
static void fill(void) {
    uint64_t seed = 2;
    if (v[0])
        return;
    for (int i = 0; i < 200; i++)
        v[i] = (uint32_t)next_number(&seed), x[i] = (double)(v[i] % 1000) * 0.01;
}
static uint64_t digest_of(const double *from, int n) {
    uint64_t d = 0;
    for (int i = 0; i < n; i += 5)
        d = mix_double(d, from[i]);
    return d;
}

KERNEL uint32_t digits(const uint32_t *from, int n, uint32_t base) {
    uint32_t sum = 0;
    for (int i = 0; i < n; i++)
        for (uint32_t a = from[i]; a; a /= base)
            sum += a % base;
    return sum;
}
static void fix_digits(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_UINT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_UINT32);
    binopt_cfg_set_parami(cfg, 2, 10);
}
static uint64_t run_digits(void *k) {
    fill();
    return ((uint32_t(*)(const uint32_t *, int, uint32_t))k)(v, 40, 10);
}

static double coefficients[7] = {1, -0.5, 0.25, 0, 0.0625, 2, -1};
KERNEL void polynomial(double *to, const double *from, int n, const double *c, int degree) {
    for (int i = 0; i < n; i++) {
        double r = c[degree];
        for (int k = degree - 1; k >= 0; k--)
            r = r * from[i] + c[k];
        to[i] = r;
    }
}
static void fix_polynomial(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 5, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR,
                    BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 3, coefficients, sizeof(coefficients), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 4, 6);
}
static uint64_t run_polynomial(void *k) {
    fill();
    ((void (*)(double *, const double *, int, const double *, int))k)(y, x, 100, coefficients, 6);
    return digest_of(y, 100);
}

KERNEL int mandelbrot(double cx, double cy, int limit, double radius) {
    double a = 0, b = 0;
    int i = 0;
    for (; i < limit && a * a + b * b < radius; i++) {
        double t = a * a - b * b + cx;
        b = 2 * a * b + cy;
        a = t;
    }
    return i;
}
static void fix_mandelbrot(BinoptCfgRef cfg) {
    double radius = 4;
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT32, BINOPT_TY_DOUBLE, BINOPT_TY_DOUBLE, BINOPT_TY_INT32, BINOPT_TY_DOUBLE);
    binopt_cfg_set_parami(cfg, 2, 100);
    binopt_cfg_set_param(cfg, 3, &radius);
}
static uint64_t run_mandelbrot(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 10; i++)
        d = mix(d, (uint64_t)((int (*)(double, double, int, double))k)(-0.1 * i, 0.4, 100, 4));
    return d;
}

typedef struct Bodies {
    int count;
    double mass[4];
} Bodies;
static Bodies bodies = {4, {10, 1, 0.5, 0.25}};
KERNEL void gravity(const Bodies *b, const double *at, double *force) {
    for (int i = 0; i < b->count; i++) {
        double sum = 0;
        for (int j = 0; j < b->count; j++) {
            if (i == j)
                continue;
            double d = at[j] - at[i];
            sum += b->mass[i] * b->mass[j] * d / (fabs(d) * d * d + 0.001);
        }
        force[i] = sum;
    }
}
static void fix_gravity(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, &bodies, sizeof(bodies), BINOPT_MEM_CONST);
}
static uint64_t run_gravity(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 10; i++) {
        double at[4] = {0, 1 + i, 3, 7.5}, force[4];
        ((void (*)(const Bodies *, const double *, double *))k)(&bodies, at, force);
        d = mix_double(mix_double(d, force[0]), force[3]);
    }
    return d;
}

KERNEL double powers(const double *from, int n, double exponent) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += pow(from[i], exponent);
    return sum;
}
static void fix_powers(BinoptCfgRef cfg) {
    double exponent = 2.5;
    binopt_cfg_type(cfg, 3, BINOPT_TY_DOUBLE, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_DOUBLE);
    binopt_cfg_set_param(cfg, 2, &exponent);
}
static uint64_t run_powers(void *k) {
    fill();
    return mix_double(0, ((double (*)(const double *, int, double))k)(x, 40, 2.5));
}

typedef struct Section {
    double b[3], a[2];
} Section;
static Section sections[2] = {{{0.2, 0.4, 0.2}, {-0.3, 0.1}}, {{0.5, 0, -0.5}, {-0.1, 0.2}}};
KERNEL void biquads(const Section *s, int count, double *memory, const double *from, double *to, int n) {
    for (int i = 0; i < n; i++) {
        double in = from[i];
        for (int k = 0; k < count; k++) {
            double out = s[k].b[0] * in + memory[2 * k];
            memory[2 * k] = s[k].b[1] * in - s[k].a[0] * out + memory[2 * k + 1];
            memory[2 * k + 1] = s[k].b[2] * in - s[k].a[1] * out;
            in = out;
        }
        to[i] = in;
    }
}
static void fix_biquads(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 6, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR,
                    BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, sections, sizeof(sections), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, 2);
}
static uint64_t run_biquads(void *k) {
    double memory[4] = {0};
    fill();
    ((void (*)(const Section *, int, double *, const double *, double *, int))k)(sections, 2, memory, x, y, 100);
    return digest_of(y, 100);
}

KERNEL void histogram(const uint32_t *from, int n, uint32_t bins, uint32_t width, int *count) {
    for (int i = 0; i < n; i++) {
        uint32_t bin = from[i] / width;
        count[bin < bins ? bin : bins - 1]++;
    }
}
static void fix_histogram(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 5, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_UINT32, BINOPT_TY_UINT32,
                    BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 2, 32);
    binopt_cfg_set_parami(cfg, 3, 60000007);
}
static uint64_t run_histogram(void *k) {
    int count[32] = {0};
    uint64_t d = 0;
    fill();
    ((void (*)(const uint32_t *, int, uint32_t, uint32_t, int *))k)(v, 200, 32, 60000007, count);
    for (int i = 0; i < 32; i++)
        d = mix(d, (uint64_t)count[i]);
    return d;
}

/* Nothing is known that the loop would need. */
KERNEL uint32_t divisors(uint32_t a, uint32_t b, int unused) {
    (void)unused;
    while (b) {
        uint32_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}
static void fix_divisors(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_UINT32, BINOPT_TY_UINT32, BINOPT_TY_UINT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 2, 5);
}
static uint64_t run_divisors(void *k) {
    uint64_t d = 0;
    fill();
    for (int i = 0; i + 1 < 40; i++)
        d = mix(d, ((uint32_t(*)(uint32_t, uint32_t, int))k)(v[i], v[i + 1], 5));
    return d;
}

/* A structure with options by pointer, some of which turn work off. */
typedef struct Style {
    int clamps, gamma, inverts;
    float gain, offset;
} Style;
static Style style = {1, 0, 0, 1.25f, -3};
static float pixels[256];
KERNEL void tone(const Style *s, float *p, int n) {
    for (int i = 0; i < n; i++) {
        float t = p[i] * s->gain + s->offset;
        if (s->inverts)
            t = 255 - t;
        if (s->gamma)
            t = sqrtf(t / 255) * 255;
        if (s->clamps)
            t = t < 0 ? 0 : t > 255 ? 255 : t;
        p[i] = t;
    }
}
static void fix_tone(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, &style, sizeof(style), BINOPT_MEM_CONST);
}
static uint64_t run_tone(void *k) {
    for (int i = 0; i < 256; i++)
        pixels[i] = (float)i;
    ((void (*)(const Style *, float *, int))k)(&style, pixels, 256);
    return mix_double(mix_double(0, pixels[9]), pixels[200]);
}

const Kernel numeric[] = {
    {"digits", digits, fix_digits, run_digits},
    {"polynomial of many", polynomial, fix_polynomial, run_polynomial},
    {"mandelbrot", mandelbrot, fix_mandelbrot, run_mandelbrot},
    {"gravity", gravity, fix_gravity, run_gravity},
    {"powers by libm", powers, fix_powers, run_powers},
    {"biquads", biquads, fix_biquads, run_biquads},
    {"histogram", histogram, fix_histogram, run_histogram},
    {"greatest divisor", divisors, fix_divisors, run_divisors},
    {"tone of pixels", tone, fix_tone, run_tone},
    {0},
};
