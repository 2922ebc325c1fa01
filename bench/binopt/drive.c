/* drive.c: see drive.h. WAY is which of them this is. */
#include "drive.h"

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define EACH_ITS_OWN __attribute__((always_inline)) static inline

static double drive_stencil(void *k, long times) {
    for (long i = 0; i < times; i++)
        ((StencilKernel *)k)(&four_taps, from_float, to_float, SIDE, SIDE);
    return to_float[3 * SIDE + 5] + to_float[500 * SIDE + 600];
}

static double drive_power(void *k, long times) {
    double r = 0;
    for (long i = 0; i < times; i++)
        r += ((PowerKernel *)k)(EXPONENT, 1 + (double)(i & 7) * 0.01);
    return r;
}

static double drive_polynomial(void *k, long times) {
    double r = 0;
    for (long i = 0; i < times; i++)
        r += ((PolynomialKernel *)k)((double)(i & 7) * 0.25, terms, TERMS);
    return r;
}

static double drive_division(void *k, long times) {
    int r = 0;
    for (long i = 0; i < times; i++)
        r += ((DivisionKernel *)k)((int)i + (r & 3), DIVISOR);
    return r;
}

static double drive_reduce(void *k, long times) {
    double r = 0;
    for (long i = 0; i < times; i++)
        r += ((ReduceKernel *)k)(sum_of_two, numbers, ELEMENTS);
    return r;
}

EACH_ITS_OWN double jump(void *k, long times) {
    double r = 0;
    for (long i = 0; i < times; i++)
        r += ((JumpKernel *)k)(answer);
    return r;
}

EACH_ITS_OWN double element(void *k, const void *stencil, long times) {
    for (long i = 0; i < times; i++)
        for (int y = 1; y < 33; y++)
            for (int x = 1; x < SIDE - 1; x++)
                ((DirectKernel *)k)(stencil, from, to, y * SIDE + x);
    return to[3 * SIDE + 5] + to[30 * SIDE + 600];
}

EACH_ITS_OWN double line(void *k, const void *stencil, long times) {
    for (long i = 0; i < times; i++)
        for (int y = 1; y < 33; y++)
            ((DirectKernel *)k)(stencil, from, to, y * SIDE);
    return to[3 * SIDE + 5] + to[30 * SIDE + 600];
}

static double drive_jump(void *k, long times) {
    return jump(k, times);
}
static double drive_known_jump(void *k, long times) {
    return jump(k, times);
}
static double drive_element_direct(void *k, long times) {
    return element(k, &four_flat, times);
}
static double drive_element_flat(void *k, long times) {
    return element(k, &four_flat, times);
}
static double drive_element_sorted(void *k, long times) {
    return element(k, &one_sorted, times);
}
static double drive_line_direct(void *k, long times) {
    return line(k, &four_flat, times);
}
static double drive_line_flat(void *k, long times) {
    return line(k, &four_flat, times);
}
static double drive_line_sorted(void *k, long times) {
    return line(k, &one_sorted, times);
}

Drive *const JOIN(drives_, WAY)[ROWS] = {
    drive_stencil,     drive_power,      drive_polynomial,     drive_division,     drive_reduce,
    drive_jump,        drive_known_jump, drive_element_direct, drive_element_flat, drive_element_sorted,
    drive_line_direct, drive_line_flat,  drive_line_sorted,
};
