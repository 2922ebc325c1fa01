/* kernels.c: see kernels.h. */
#include "kernels.h"

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define INLINED static inline __attribute__((always_inline))

static const Taps taps = {4, {{-1, 0, .25f}, {1, 0, .25f}, {0, -1, .25f}, {0, 1, .25f}}};
static const Flat flat = {4, {{.25, -1, 0}, {.25, 1, 0}, {.25, 0, -1}, {.25, 0, 1}}};
static const Group group = {.25, 4, {{-1, 0}, {1, 0}, {0, -1}, {0, 1}}};
static const Sorted sorted = {1, {&group}};
static const double terms[TERMS] = {-3, 5, 0, 2, 1, 0, 1, 0, 0, 4, 1};

INLINED void stencil(const Taps *s, const float *from, float *to, size_t width, size_t height) {
    for (size_t y = 1; y < height - 1; y++)
        for (size_t x = 1; x < width - 1; x++) {
            float v = 0;
            for (int i = 0; i < s->count; i++)
                v += s->tap[i].f * from[(y + s->tap[i].dy) * width + x + s->tap[i].dx];
            to[y * width + x] = v;
        }
}

INLINED double power(unsigned n, double x) {
    double r = 1;
    while (n) {
        if (n & 1)
            r *= x;
        x *= x;
        n >>= 1;
    }
    return r;
}

INLINED double polynomial(double x, const double *c, size_t n) {
    double r = 0, p = 1;
    for (size_t i = 0; i < n; i++) {
        r += c[i] * p;
        p *= x;
    }
    return r;
}

INLINED double reduce(Operation *op, const double *v, size_t n) {
    double r = v[0];
    for (size_t i = 1; i < n; i++)
        r = op(r, v[i]);
    return r;
}

INLINED void element_flat(const Flat *s, const double *from, double *to, int index) {
    double v = 0;
    for (int i = 0; i < s->count; i++)
        v += s->point[i].f * from[index + s->point[i].dx + SIDE * s->point[i].dy];
    to[index] = v;
}

INLINED void element_sorted(const Sorted *s, const double *from, double *to, int index) {
    double v = 0;
    for (int i = 0; i < s->count; i++) {
        const Group *g = s->group[i];
        double sum = 0;
        for (int k = 0; k < g->count; k++)
            sum += from[index + g->at[k].dx + SIDE * g->at[k].dy];
        v += g->f * sum;
    }
    to[index] = v;
}

INLINED void element_direct(const double *from, double *to, int index) {
    to[index] = .25 * (from[index - 1] + from[index + 1] + from[index - SIDE] + from[index + SIDE]);
}

#define LINE(element)                                                                                                  \
    for (int i = 1; i < SIDE - 1; i++)                                                                                 \
    element

/* ------------------------------------------------------------------------------------------------------- general ones */

#define GENERAL __attribute__((noinline)) static

GENERAL void general_stencil(const Taps *s, const float *from, float *to, size_t width, size_t height) {
    stencil(s, from, to, width, height);
}
GENERAL double general_power(unsigned n, double x) {
    return power(n, x);
}
GENERAL double general_polynomial(double x, const double *c, size_t n) {
    return polynomial(x, c, n);
}
GENERAL int general_division(int a, int b) {
    return a / b;
}
GENERAL double general_reduce(Operation *op, const double *v, size_t n) {
    return reduce(op, v, n);
}
GENERAL int general_jump(Jumped *f) {
    return f();
}
GENERAL void general_element_flat(const Flat *s, const double *from, double *to, int index) {
    element_flat(s, from, to, index);
}
GENERAL void general_element_sorted(const Sorted *s, const double *from, double *to, int index) {
    element_sorted(s, from, to, index);
}
GENERAL void general_element_direct(const void *unused, const double *from, double *to, int index) {
    (void)unused;
    element_direct(from, to, index);
}
GENERAL void general_line_flat(const Flat *s, const double *from, double *to, int index) {
    LINE(element_flat(s, from, to, index + i));
}
GENERAL void general_line_sorted(const Sorted *s, const double *from, double *to, int index) {
    LINE(element_sorted(s, from, to, index + i));
}
GENERAL void general_line_direct(const void *unused, const double *from, double *to, int index) {
    (void)unused;
    LINE(element_direct(from, to, index + i));
}

/* -------------------------------------------------------------------------------------------- fixed at compile time */

static double add(double a, double b) {
    return a + b;
}
static int forty_two(void) {
    return 42;
}
static void special_stencil(const Taps *s, const float *from, float *to, size_t width, size_t height) {
    (void)s, (void)width, (void)height;
    stencil(&taps, from, to, SIDE, SIDE);
}
static double special_power(unsigned n, double x) {
    (void)n;
    return power(EXPONENT, x);
}
static double special_polynomial(double x, const double *c, size_t n) {
    (void)c, (void)n;
    return polynomial(x, terms, TERMS);
}
static int special_division(int a, int b) {
    (void)b;
    return a / DIVISOR;
}
static double special_reduce(Operation *op, const double *v, size_t n) {
    (void)op;
    return reduce(add, v, n);
}
static int special_jump(Jumped *f) {
    (void)f;
    return forty_two();
}
static void special_element_flat(const Flat *s, const double *from, double *to, int index) {
    (void)s;
    element_flat(&flat, from, to, index);
}
static void special_element_sorted(const Sorted *s, const double *from, double *to, int index) {
    (void)s;
    element_sorted(&sorted, from, to, index);
}
static void special_line_flat(const Flat *s, const double *from, double *to, int index) {
    (void)s;
    LINE(element_flat(&flat, from, to, index + i));
}
static void special_line_sorted(const Sorted *s, const double *from, double *to, int index) {
    (void)s;
    LINE(element_sorted(&sorted, from, to, index + i));
}

const Kernels JOIN(COMPILER, _kernels) = {
    general_stencil,        general_power,       general_polynomial,     general_division,
    general_reduce,         general_jump,        general_element_flat,   general_line_flat,
    general_element_sorted, general_line_sorted, general_element_direct, general_line_direct,
};
const Kernels JOIN(COMPILER, _special) = {
    special_stencil,        special_power,       special_polynomial,     special_division,
    special_reduce,         special_jump,        special_element_flat,   special_line_flat,
    special_element_sorted, special_line_sorted, general_element_direct, general_line_direct,
};
