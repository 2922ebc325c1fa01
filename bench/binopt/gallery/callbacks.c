/* callbacks.c: functions that get functions, and tables of them. */
#include <math.h>
#include <stdlib.h>

#include "gallery.h"

typedef double Function(double x);
static double parabola(double x) {
    return x * (x - 1) + 0.5;
}
static double wave(double x) {
    return sin(x) * exp(-x * 0.1);
}

KERNEL double integrate(Function *f, double from, double to, int steps) {
    double h = (to - from) / steps, sum = (f(from) + f(to)) / 2;
    for (int i = 1; i < steps; i++)
        sum += f(from + i * h);
    return sum * h;
}
static void type_integrate(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_DOUBLE, BINOPT_TY_PTR, BINOPT_TY_DOUBLE, BINOPT_TY_DOUBLE, BINOPT_TY_INT32);
}
static void fix_parabola(BinoptCfgRef cfg) {
    type_integrate(cfg);
    binopt_cfg_set_parami(cfg, 0, (size_t)parabola);
}
static void fix_wave(BinoptCfgRef cfg) {
    type_integrate(cfg);
    binopt_cfg_set_parami(cfg, 0, (size_t)wave);
}
typedef double Integrate(Function *, double, double, int);
static uint64_t run_parabola(void *k) {
    return mix_double(0, ((Integrate *)k)(parabola, 0, 2, 200));
}
static uint64_t run_wave(void *k) {
    return mix_double(0, ((Integrate *)k)(wave, 0, 2, 60));
}

KERNEL double solve(Function *f, double low, double high, double precision) {
    while (high - low > precision) {
        double middle = (low + high) / 2;
        if ((f(middle) < 0) == (f(low) < 0))
            low = middle;
        else
            high = middle;
    }
    return low;
}
static double cubic(double x) {
    return x * x * x - 2;
}
static void fix_solve(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_DOUBLE, BINOPT_TY_PTR, BINOPT_TY_DOUBLE, BINOPT_TY_DOUBLE, BINOPT_TY_DOUBLE);
    binopt_cfg_set_parami(cfg, 0, (size_t)cubic);
}
static uint64_t run_solve(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 5; i++)
        d = mix_double(d, ((double (*)(Function *, double, double, double))k)(cubic, 0, 2 + i, 1e-9));
    return d;
}

typedef void Derive(double t, const double *y, double *to);
static void spring(double t, const double *y, double *to) {
    to[0] = y[1];
    to[1] = -4 * y[0] - 0.1 * y[1] + 0.01 * t;
}
KERNEL void runge_kutta(Derive *derive, double *y, int n, double h, int steps) {
    double a[4], b[4], c[4], d[4], at[4];
    for (int s = 0; s < steps; s++) {
        double t = s * h;
        derive(t, y, a);
        for (int i = 0; i < n; i++)
            at[i] = y[i] + h / 2 * a[i];
        derive(t + h / 2, at, b);
        for (int i = 0; i < n; i++)
            at[i] = y[i] + h / 2 * b[i];
        derive(t + h / 2, at, c);
        for (int i = 0; i < n; i++)
            at[i] = y[i] + h * c[i];
        derive(t + h, at, d);
        for (int i = 0; i < n; i++)
            y[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    }
}
static void fix_runge_kutta(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 5, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_DOUBLE,
                    BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 0, (size_t)spring);
    binopt_cfg_set_parami(cfg, 2, 2);
}
static uint64_t run_runge_kutta(void *k) {
    double y[2] = {1, 0};
    ((void (*)(Derive *, double *, int, double, int))k)(spring, y, 2, 0.01, 50);
    return mix_double(mix_double(0, y[0]), y[1]);
}

typedef int Binary(int a, int b);
static int larger(int a, int b) {
    return a > b ? a : b;
}
static int sum_of(int a, int b) {
    return a + b;
}
KERNEL int fold(Binary *op, int start, const int *v, int n) {
    for (int i = 0; i < n; i++)
        start = op(start, v[i]);
    return start;
}
static int numbers[200];
static void type_fold(BinoptCfgRef cfg) {
    for (int i = 0; i < 200; i++)
        numbers[i] = i * 37 % 211;
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32);
}
static void fix_largest(BinoptCfgRef cfg) {
    type_fold(cfg);
    binopt_cfg_set_parami(cfg, 0, (size_t)larger);
}
/* The start is known, but not what is done. */
static void fix_start(BinoptCfgRef cfg) {
    type_fold(cfg);
    binopt_cfg_set_parami(cfg, 1, 0);
}
typedef int Fold(Binary *, int, const int *, int);
static uint64_t run_largest(void *k) {
    return (uint64_t)((Fold *)k)(larger, 0, numbers, 200);
}
static uint64_t run_start(void *k) {
    return (uint64_t)((Fold *)k)(sum_of, 0, numbers, 200);
}

typedef struct Event {
    int kind, value;
} Event;
typedef struct Counters {
    long total[3];
} Counters;
typedef void Handler(Counters *c, int value);
static void on_add(Counters *c, int value) {
    c->total[0] += value;
}
static void on_mix(Counters *c, int value) {
    c->total[1] = c->total[1] * 3 ^ value;
}
static void on_reset(Counters *c, int value) {
    c->total[2] += c->total[0] > value;
    c->total[0] &= 0xffff;
}
static Handler *handlers[] = {on_add, on_mix, on_reset};
KERNEL void dispatch(Handler *const *table, const Event *e, int n, Counters *c) {
    for (int i = 0; i < n; i++)
        table[e[i].kind](c, e[i].value);
}
static void fix_dispatch(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, handlers, sizeof(handlers), BINOPT_MEM_CONST);
}
static uint64_t run_dispatch(void *k) {
    static Event events[100];
    Counters c = {{0}};
    for (int i = 0; i < 100; i++)
        events[i] = (Event){i * i % 7 % 3, i};
    ((void (*)(Handler *const *, const Event *, int, Counters *))k)(handlers, events, 100, &c);
    return mix(mix((uint64_t)c.total[0], (uint64_t)c.total[1]), (uint64_t)c.total[2]);
}

typedef struct Allocator {
    void *(*get)(size_t size);
    void (*put)(void *p);
} Allocator;
static Allocator standard = {malloc, free};
typedef struct Cell {
    struct Cell *next;
    int value;
} Cell;
KERNEL int list(const Allocator *a, int n, int factor) {
    Cell *head = NULL;
    int sum = 0;
    for (int i = 0; i < n; i++) {
        Cell *c = a->get(sizeof(*c));
        *c = (Cell){head, i * factor};
        head = c;
    }
    while (head) {
        Cell *next = head->next;
        sum = sum * 3 + head->value;
        a->put(head);
        head = next;
    }
    return sum;
}
static void fix_list(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, &standard, sizeof(standard), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 2, 10);
}
static uint64_t run_list(void *k) {
    return (uint64_t)((int (*)(const Allocator *, int, int))k)(&standard, 30, 10);
}

/* A callback with more arguments than there are registers, in a local function that calls others. */
typedef long Many(long a, long b, long c, long d, long e, long f, long g, long h);
static long many(long a, long b, long c, long d, long e, long f, long g, long h) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}
KERNEL long spread(Many *f, const long *v, int n) {
    long sum = 0;
    for (int i = 0; i + 8 <= n; i++)
        sum = sum * 3 + f(v[i], v[i + 1], v[i + 2], v[i + 3], v[i + 4], v[i + 5], v[i + 6], v[i + 7]);
    return sum;
}
static long longs[80];
static void fix_spread(BinoptCfgRef cfg) {
    for (int i = 0; i < 80; i++)
        longs[i] = i * 13 % 29;
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT64, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 0, (size_t)many);
}
static void fix_length(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT64, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 2, 80);
}
static uint64_t run_spread(void *k) {
    return (uint64_t)((long (*)(Many *, const long *, int))k)(many, longs, 80);
}

const Kernel callbacks[] = {
    {"integral of a parabola", integrate, fix_parabola, run_parabola},
    {"integral with libm", integrate, fix_wave, run_wave},
    {"bisection", solve, fix_solve, run_solve},
    {"runge-kutta", runge_kutta, fix_runge_kutta, run_runge_kutta},
    {"fold, known operation", fold, fix_largest, run_largest},
    {"fold, known start", fold, fix_start, run_start},
    {"event handlers", dispatch, fix_dispatch, run_dispatch},
    {"list by an allocator", list, fix_list, run_list},
    {"eight arguments", spread, fix_spread, run_spread},
    {"eight arguments, any", spread, fix_length, run_spread},
    {0},
};
