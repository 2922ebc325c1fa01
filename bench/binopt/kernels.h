/* kernels.h: small functions with something to gain from knowing their parameters, as each compiler makes them.
 *
 * KERNEL(x) is the general function, SPECIAL(x) the same with its parameters fixed at compile time to the values below. */
#ifndef BENCH_BINOPT_KERNELS_H
#define BENCH_BINOPT_KERNELS_H

#include <stddef.h>

enum { SIDE = 649, EXPONENT = 76, TERMS = 11, DIVISOR = 11, ELEMENTS = 1000 };

typedef struct Tap {
    int dx, dy;
    float f;
} Tap;
typedef struct Taps {
    int count;
    Tap tap[4];
} Taps;

typedef struct Point {
    double f;
    int dx, dy;
} Point;
typedef struct Flat {
    int count;
    Point point[4];
} Flat;
typedef struct Offset {
    int dx, dy;
} Offset;
typedef struct Group {
    double f;
    int count;
    Offset at[4];
} Group;
typedef struct Sorted {
    int count;
    const Group *group[1];
} Sorted;

extern const Taps four_taps;
extern const Flat four_flat;

typedef void StencilKernel(const Taps *s, const float *from, float *to, size_t width, size_t height);
typedef double PowerKernel(unsigned n, double x);
typedef double PolynomialKernel(double x, const double *c, size_t n);
typedef int DivisionKernel(int a, int b);
typedef double Operation(double a, double b);
typedef double ReduceKernel(Operation *op, const double *v, size_t n);
typedef int Jumped(void);
typedef int JumpKernel(Jumped *f);
typedef void FlatKernel(const Flat *s, const double *from, double *to, int index);
typedef void SortedKernel(const Sorted *s, const double *from, double *to, int index);
typedef void DirectKernel(const void *unused, const double *from, double *to, int index);

typedef struct Kernels {
    StencilKernel *stencil;
    PowerKernel *power;
    PolynomialKernel *polynomial;
    DivisionKernel *division;
    ReduceKernel *reduce;
    JumpKernel *jump;
    FlatKernel *element_flat, *line_flat;
    SortedKernel *element_sorted, *line_sorted;
    DirectKernel *element_direct, *line_direct;
} Kernels;

/* The general ones and those fixed at compile time, by two compilers. */
extern const Kernels gcc_kernels, gcc_special, clang_kernels, clang_special;
double sum_of_two(double a, double b);
int answer(void);

#endif
