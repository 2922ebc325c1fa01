/* kernels.h: the functions that bench-quality lifts, as a list and as prototypes.
 *
 * Each is compiled twice from one source, under the names gcc_NAME and clang_NAME. KERNELS names the result, the
 * function, its parameters, and its signature in the letters of lathe_wrap_sysv. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <stdint.h>

/* A stencil as a list of weighted points around an element of a SIDE x SIDE matrix. */
enum { SIDE = 649 };
struct Point {
    double f;
    int dx, dy;
};
struct Stencil {
    int ps;
    struct Point p[];
};

/* The same with the points of one weight together: groups of points follow each other in memory. */
struct Offset {
    int dx, dy;
};
struct Group {
    double f;
    int ps;
    struct Offset p[];
};
struct Sorted {
    int gs;
    struct Group *g[];
};

#define KERNELS(K)                                                                                                     \
    K(int, max_int, (int a, int b), "iii")                                                                             \
    K(long, max_long, (long a, long b), "lll")                                                                         \
    K(int, max_flags, (int a, int b, int c), "iiii")                                                                   \
    K(long, clamp, (long v, long low, long high), "llll")                                                              \
    K(int, sign_of, (int v), "ii")                                                                                     \
    K(int, switch_dense, (int op, int a, int b), "iiii")                                                               \
    K(int, switch_sparse, (int key), "ii")                                                                             \
    K(long, gcd, (unsigned long a, unsigned long b), "lll")                                                            \
    K(long, collatz, (unsigned long n), "ll")                                                                          \
    K(unsigned long, fibonacci, (int n), "li")                                                                         \
    K(int, popcount_loop, (unsigned long v), "il")                                                                     \
    K(long, popcount_array, (const uint64_t *a, long n), "lpl")                                                        \
    K(int, is_prime, (unsigned n), "ii")                                                                               \
    K(long, sum_int, (const int *a, long n), "lpl")                                                                    \
    K(long, dot_long, (const long *a, const long *b, long n), "lppl")                                                  \
    K(void, copy_bytes, (char *to, const char *from, long n), "vppl")                                                  \
    K(long, string_length, (const char *s), "lp")                                                                      \
    K(int, string_compare, (const char *a, const char *b), "ipp")                                                      \
    K(long, binary_search, (const int *a, long n, int key), "lpli")                                                    \
    K(void, bubble_sort, (int *a, int n), "vpi")                                                                       \
    K(long, count_runs, (const unsigned char *a, long n), "lpl")                                                       \
    K(uint32_t, crc32, (const uint32_t *table, const unsigned char *p, long n), "ippl")                                \
    K(uint64_t, fnv, (const unsigned char *p, long n), "lpl")                                                          \
    K(uint64_t, murmur, (const uint64_t *p, long n, uint64_t seed), "lpll")                                            \
    K(void, matrix_int, (int *c, const int *a, const int *b, int n), "vpppi")                                          \
    K(float, sum_float, (const float *a, long n), "fpl")                                                               \
    K(double, dot_double, (const double *a, const double *b, long n), "dppl")                                          \
    K(void, saxpy, (float *y, const float *x, float a, long n), "vppfl")                                               \
    K(void, daxpy, (double *y, const double *x, double a, long n), "vppdl")                                            \
    K(double, polynomial, (const double *c, int n, double x), "dpid")                                                  \
    K(double, newton_sqrt, (double v), "dd")                                                                           \
    K(int, mandelbrot, (double re, double im, int limit), "iddi")                                                      \
    K(void, matrix_double, (double *c, const double *a, const double *b, int n), "vpppi")                              \
    K(void, stencil_flat, (const struct Stencil *s, const double *m1, double *m2, int index), "vpppi")                 \
    K(void, stencil_sorted, (const struct Sorted *s, const double *m1, double *m2, int index), "vpppi")                \
    K(void, stencil_direct, (const double *m1, double *m2, int index), "vppi")                                         \
    K(void, sse_saxpy, (float *y, const float *x, float a, long n), "vppfl")                                           \
    K(long, sse_sum_bytes, (const unsigned char *p, long n), "lpl")                                                    \
    K(long, sse_find_byte, (const char *p, long n, int c), "lpli")                                                     \
    K(double, sse_dot, (const double *a, const double *b, long n), "dppl")

#ifdef PREFIX
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define KERNEL(name) JOIN(PREFIX, name)
#define KERNEL_DECLARE(result, name, params, sig) result KERNEL(name) params;
KERNELS(KERNEL_DECLARE)
#endif

#endif
