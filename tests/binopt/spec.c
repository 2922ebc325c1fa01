/* spec.c: specialised functions do what the originals do, and what should be refused is. */
#include <binopt.h>
#include <fenv.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "subjects.h"

/* What should come back: a new function; the original from *llvm*, as from all that have to understand it; from everybody. */
typedef enum Expect { NEW, NOT_LIFTED, SAME } Expect;

enum { MAX_PARAMS = 12 };

static BinoptHandle handle;
static int failures, checks;
static enum {
    NOT_TRIED,
    KEPT,
    GAINED
} gains[2000]; /* where rewriters may keep the original: by line, what they did with what could be new */
static bool guarded;

static void check(bool right, const char *what, int line) {
    checks++;
    if (right)
        return;
    failures++;
    printf("spec.c:%d: %s\n", line, what);
}
#define CHECK_THAT(cond) check(cond, #cond, __LINE__)

static BinoptType type_of(char c) {
    switch (c) {
    case 'b':
        return BINOPT_TY_INT8;
    case 'B':
        return BINOPT_TY_UINT8;
    case 'h':
        return BINOPT_TY_INT16;
    case 'H':
        return BINOPT_TY_UINT16;
    case 'i':
        return BINOPT_TY_INT32;
    case 'I':
        return BINOPT_TY_UINT32;
    case 'l':
        return BINOPT_TY_INT64;
    case 'L':
        return BINOPT_TY_UINT64;
    case 'f':
        return BINOPT_TY_FLOAT;
    case 'd':
        return BINOPT_TY_DOUBLE;
    case 'p':
        return BINOPT_TY_PTR;
    case 'r':
        return BINOPT_TY_PTR_NOALIAS;
    }
    return BINOPT_TY_VOID;
}

/* A configuration by letters: the result, then the parameters. */
static BinoptCfgRef configure(void *function, const char *sig) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, function);
    BinoptType t[MAX_PARAMS] = {0};
    unsigned count = (unsigned)strlen(sig) - 1;
    for (unsigned i = 0; i < count; i++)
        t[i] = type_of(sig[1 + i]);
    binopt_cfg_type(cfg, count, type_of(sig[0]), t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10],
                    t[11]);
    binopt_cfg_set(cfg, BINOPT_F_GUARD, guarded);
    return cfg;
}

/* Rewriters return the original where they gained nothing, if they are not told otherwise. */
static bool may_keep(void) {
    const char *always = getenv("BINOPT_ALWAYS");
    return strncmp(binopt_driver(), "Default", 7) && !(always && *always == '1');
}

static BinoptFunc make(BinoptCfgRef cfg, void *function, Expect expect, int line) {
    BinoptFunc made = binopt_spec_create(cfg);
    bool none = strncmp(binopt_driver(), "Default", 7) == 0, lifts = strcmp(binopt_driver(), "llvm") == 0;
    if (expect == NEW && !none && !may_keep())
        check(made != function, "a new function", line);
    if (expect == NEW && may_keep() && gains[line] != GAINED)
        gains[line] = made != function ? GAINED : KEPT;
    if (expect == SAME || none || (expect == NOT_LIFTED && lifts && !may_keep()))
        check(made == function, "the original function", line);
    return made;
}
#define MAKE(cfg, f, expect) ((__typeof__(&f))make(cfg, (void *)f, expect, __LINE__))

static const int edges[] = {0, 1, -1, 2, 7, 42, -42, 1000, 2147483647, -2147483647 - 1};

static void test_integers(void) {
    BinoptCfgRef cfg = configure(subtract, "iii");
    binopt_cfg_set_parami(cfg, 1, 42);
    __typeof__(&subtract) f = MAKE(cfg, subtract, NEW);
    for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
        CHECK_THAT(f(edges[i], 42) == (int)((unsigned)edges[i] - 42));
    if (f != subtract && !guarded)
        CHECK_THAT(f(48, 16) == 6);
    if (guarded)
        CHECK_THAT(f(48, 16) == 32);

    for (int by = -9; by <= 11; by += 4) {
        cfg = configure(divide, "iii");
        binopt_cfg_set_parami(cfg, 1, (size_t)by);
        __typeof__(&divide) d = MAKE(cfg, divide, NEW);
        for (size_t i = 0; i < sizeof(edges) / sizeof(*edges) - 1; i++)
            CHECK_THAT(d(edges[i], by) == edges[i] / by);
    }
    cfg = configure(modulo, "LLL");
    binopt_cfg_set_parami(cfg, 1, 10);
    __typeof__(&modulo) m = MAKE(cfg, modulo, NEW);
    CHECK_THAT(m(~0ul, 10) == ~0ul % 10 && m(7, 10) == 7);

    cfg = configure(small, "bbBhH");
    binopt_cfg_set_parami(cfg, 0, (size_t)-100);
    binopt_cfg_set_parami(cfg, 3, 65000);
    __typeof__(&small) s = MAKE(cfg, small, NEW);
    CHECK_THAT(s(-100, 250, -300, 65000) == small(-100, 250, -300, 65000));
    CHECK_THAT(s(-100, 3, 32767, 65000) == small(-100, 3, 32767, 65000));

    cfg = configure(wrapping, "lIII");
    binopt_cfg_set_parami(cfg, 1, 0x7fffffff);
    binopt_cfg_set_parami(cfg, 2, 0x80000001);
    __typeof__(&wrapping) w = MAKE(cfg, wrapping, NEW);
    for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
        CHECK_THAT(w((unsigned)edges[i], 0x7fffffff, 0x80000001) ==
                   wrapping((unsigned)edges[i], 0x7fffffff, 0x80000001));

    cfg = configure(nothing_known, "lll");
    __typeof__(&nothing_known) n = MAKE(cfg, nothing_known, NEW);
    CHECK_THAT(n(12345, -678) == nothing_known(12345, -678));
}

/* Around multiples of the divisor, from one end of the numbers to the other. */
static void test_quotients(void) {
    static const unsigned divisors[] = {1,          2,   3,   5,       6,      7,          10,         11,
                                        13,         100, 641, 1000003, 65536,  0x40000000, 0x7fffffff, 0x80000000,
                                        0x80000001, -2u, -3u, -7u,     -1000u, -65536u,    -65537u,    -12345678u};
    for (size_t i = guarded; i < sizeof(divisors) / sizeof(*divisors); i += 1 + (size_t)guarded * 7) {
        unsigned d = divisors[i];
        BinoptCfgRef cfg[] = {configure(divide, "iii"), configure(quotient, "III"), configure(both_parts, "iii")};
        for (int k = 0; k < 3; k++)
            binopt_cfg_set_parami(cfg[k], 1, d);
        __typeof__(&divide) f = MAKE(cfg[0], divide, NEW), h = MAKE(cfg[2], both_parts, NEW);
        __typeof__(&quotient) g = MAKE(cfg[1], quotient, NEW);
        bool right = true;
        for (unsigned n = 0; n < 4000; n++)
            for (int k = -1; k <= 1; k++) {
                unsigned a = (n * 1073807u / d) * d + (unsigned)k;
                right &= g(a, d) == a / d;
                right &= f((int)a, (int)d) == (int)a / (int)d && h((int)a, (int)d) == both_parts((int)a, (int)d);
            }
        for (size_t k = 0; k < sizeof(edges) / sizeof(*edges); k++)
            right &= f(edges[k], (int)d) == edges[k] / (int)d && g((unsigned)edges[k], d) == (unsigned)edges[k] / d;
        CHECK_THAT(right);
    }
}

/* With and without the promise that indices do not overflow. */
static void test_indices(void) {
    static long v[40];
    for (int i = 0; i < 40; i++)
        v[i] = i * i - 7 * i;
    for (int nowrap = 0; nowrap < 2; nowrap++) {
        BinoptCfgRef cfg = configure(neighbours, "lpii");
        binopt_cfg_set_parami(cfg, 2, 6);
        binopt_cfg_set(cfg, BINOPT_F_NOWRAP, (size_t)nowrap);
        __typeof__(&neighbours) f = MAKE(cfg, neighbours, NEW);
        for (int i = -14; i < 14; i++)
            CHECK_THAT(f(v + 20, i, 6) == neighbours(v + 20, i, 6));
        /* What is promised of indices is not promised of other numbers. */
        cfg = configure(wrapped_double, "lii");
        binopt_cfg_set_parami(cfg, 1, 6);
        binopt_cfg_set(cfg, BINOPT_F_NOWRAP, (size_t)nowrap);
        __typeof__(&wrapped_double) d = MAKE(cfg, wrapped_double, NEW);
        CHECK_THAT(d(0x96d5c3da, 6) == wrapped_double(0x96d5c3da, 6) && d(5, 6) == 16);
    }
}

/* The results and what is stored, to the last bit. */
static void test_lanes(void) {
    static const double numbers[] = {0, -0.0, 1, -1, 2.5, 1e308, -1e-310, INFINITY, NAN};
    enum { COUNT = sizeof(numbers) / sizeof(*numbers) };
    for (int i = 0; i < COUNT * 2; i++) {
        double low = numbers[i % COUNT], high = i < COUNT ? 2.5 : -0.0, is[5], should[5];
        BinoptCfgRef cfg = configure(lanes, "ddddp");
        binopt_cfg_set_param(cfg, 1, &low);
        binopt_cfg_set_param(cfg, 2, &high);
        __typeof__(&lanes) f = MAKE(cfg, lanes, NEW);
        for (int k = 0; k < COUNT; k++) {
            is[4] = f(numbers[k], low, high, is);
            should[4] = lanes(numbers[k], low, high, should);
            bool same = true;
            for (int n = 0; n < 5; n++)
                same &= isnan(should[n]) ? isnan(is[n]) : !memcmp(&is[n], &should[n], sizeof(double));
            CHECK_THAT(same);
        }
    }
}

static void test_distances(void) {
    static const int v[] = {4, 3, -1, 4, 100, -7, 8, 9};
    const int *const pointers[] = {v, v + 3, v + 3, v + 4, v, v + 1, v + 1, v + 7};
    for (size_t n = 0; n < 6; n++) {
        BinoptCfgRef cfg = configure(between, "lpLp");
        binopt_cfg_set_parami(cfg, 1, n);
        __typeof__(&between) f = MAKE(cfg, between, NEW);
        CHECK_THAT(f(v, n, v) == between(v, n, v) && f(v + 1, n, v + 3) == between(v + 1, n, v + 3));
        cfg = configure(list_apart, "lpL");
        binopt_cfg_set_parami(cfg, 1, n + 2);
        __typeof__(&list_apart) g = MAKE(cfg, list_apart, NEW);
        CHECK_THAT(g(pointers, n + 2) == list_apart(pointers, n + 2));
    }
}

static void test_loops(void) {
    int v[] = {4, 3, -1, 4, 100, -7, 8};
    BinoptCfgRef cfg = configure(sum_array, "lLp");
    binopt_cfg_set_parami(cfg, 0, 4);
    __typeof__(&sum_array) sum = MAKE(cfg, sum_array, NEW);
    CHECK_THAT(sum(4, v) == 10 && sum(4, v + 3) == 105);
    BinoptCfgRef copy = binopt_cfg_clone(cfg);
    binopt_cfg_set_paramp(copy, 1, v, sizeof(v), BINOPT_MEM_CONST);
    binopt_cfg_free(cfg);
    sum = MAKE(copy, sum_array, NEW);
    CHECK_THAT(sum(4, v) == 10);

    /* What is said to be constant is read when the function is made. */
    int w[] = {1, 2, 3, 4};
    cfg = configure(sum_array, "lLp");
    binopt_cfg_set_parami(cfg, 0, 4);
    binopt_cfg_set_paramp(cfg, 1, w, 2 * sizeof(*w), BINOPT_MEM_CONST);
    sum = MAKE(cfg, sum_array, NEW);
    w[2] = 30;
    w[3] = 40;
    CHECK_THAT(sum(4, w) == 73);

    for (unsigned n = 0; n < 80; n += 19) {
        cfg = configure(power, "ddI");
        binopt_cfg_set_parami(cfg, 1, n);
        __typeof__(&power) p = MAKE(cfg, power, NEW);
        CHECK_THAT(p(1.25, n) == power(1.25, n) && p(-0.5, n) == power(-0.5, n));
    }
    double c[] = {-3, 5, 0, 2, 1, 0, 0, 1};
    cfg = configure(polynomial, "ddpL");
    binopt_cfg_set_paramp(cfg, 1, c, sizeof(c), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 2, 8);
    __typeof__(&polynomial) p = MAKE(cfg, polynomial, NEW);
    CHECK_THAT(p(1.5, c, 8) == polynomial(1.5, c, 8));
    binopt_cfg_set(cfg, BINOPT_F_FASTMATH, 1);
    p = MAKE(cfg, polynomial, NEW);
    CHECK_THAT(fabs(p(1.5, c, 8) - polynomial(1.5, c, 8)) < 1e-9);

    for (int day = -1; day < 8; day++) {
        cfg = configure(day_name, "iii");
        binopt_cfg_set_parami(cfg, 0, (size_t)day);
        __typeof__(&day_name) d = MAKE(cfg, day_name, NEW);
        CHECK_THAT(d(day, 11) == day_name(day, 11));
    }
    cfg = configure(day_name, "iii");
    binopt_cfg_set_parami(cfg, 1, 5);
    __typeof__(&day_name) d = MAKE(cfg, day_name, NEW);
    for (int day = -1; day < 8; day++)
        CHECK_THAT(d(day, 5) == day_name(day, 5));

    int table[100];
    for (int i = 0; i < 100; i++)
        table[i] = 3 * i;
    cfg = configure(search, "ipii");
    binopt_cfg_set_paramp(cfg, 0, table, sizeof(table), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, 100);
    __typeof__(&search) find = MAKE(cfg, search, NEW);
    for (int key = -2; key < 302; key++)
        CHECK_THAT(find(table, 100, key) == search(table, 100, key));

    cfg = configure(hash, "IpLI");
    binopt_cfg_set_parami(cfg, 1, 11);
    __typeof__(&hash) h = MAKE(cfg, hash, NEW);
    CHECK_THAT(h((const unsigned char *)"hello world", 11, 5) == hash((const unsigned char *)"hello world", 11, 5));
}

/* What is written may be what is read later. */
static void test_nested_loops(void) {
    static const int table[] = {3, -5, 7, 11};
    for (int i = 0; i < 5 * 4 * 2 * 2; i++) {
        int mode = i % 5, channels = i / 5 % 4 + 1, stride = channels + i / 20 % 2;
        BinoptCfgRef cfg = configure(each_channel, "vpppiiii");
        binopt_cfg_set_paramp(cfg, 2, table, sizeof(table), BINOPT_MEM_CONST);
        binopt_cfg_set_parami(cfg, 3, (size_t)channels);
        binopt_cfg_set_parami(cfg, 4, (size_t)stride);
        binopt_cfg_set_parami(cfg, 6, (size_t)mode);
        binopt_cfg_set(cfg, BINOPT_F_NOWRAP, (size_t)i / 40);
        __typeof__(&each_channel) each = MAKE(cfg, each_channel, NEW);
        for (int n = 0; n < 40; n = n * 2 + 1)
            for (int shift = 0; shift < 14; shift += 6) {
                int want[256], got[256];
                for (int k = 0; k < 256; k++)
                    want[k] = got[k] = k * 37 % 101;
                each_channel(want, want + shift, table, channels, stride, n, mode);
                each(got, got + shift, table, channels, stride, n, mode);
                CHECK_THAT(!memcmp(want, got, sizeof(want)));
            }
    }
}

enum { NUMBERS = 40 };

/* What fits and what does not, at and around both ends. */
static void fill_numbers(double *numbers) {
    static const double some[] = {0,          -0.9,         0.9,      1.5,           -1.5,        0x1p31,
                                  0x1p31 - 1, 0x1p31 - 200, -0x1p31,  -0x1p31 - 0.5, -0x1p31 - 1, -0x1p31 - 300,
                                  0x1p63,     -0x1p63,      0x1p62,   INFINITY,      -INFINITY,   NAN,
                                  1e300,      -1e300,       12345.678};
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = some[(size_t)i % (sizeof(some) / sizeof(*some))];
}

static void test_conversions(void) {
    double numbers[NUMBERS];
    float singles[NUMBERS];
    int want[NUMBERS], got[NUMBERS];
    long want_wide[NUMBERS], got_wide[NUMBERS];
    fill_numbers(numbers);
    for (int i = 0; i < NUMBERS; i++)
        singles[i] = (float)numbers[i];
    void (*const of_floats[])(const float *, int *, size_t) = {truncate_floats, truncate_packed};
    for (int i = 0; i < 2; i++)
        for (size_t n = 4; n <= NUMBERS; n += 12) {
            BinoptCfgRef cfg = configure((void *)of_floats[i], "vprL");
            binopt_cfg_set_parami(cfg, 2, n);
            __typeof__(&truncate_floats) made =
                (__typeof__(&truncate_floats))make(cfg, (void *)of_floats[i], NEW, __LINE__);
            of_floats[i](singles, want, n);
            made(singles, got, n);
            CHECK_THAT(!memcmp(want, got, n * sizeof(*want)));
        }
    for (size_t n = 4; n <= NUMBERS; n += 12) {
        BinoptCfgRef cfg = configure(truncate_doubles, "vprrL");
        binopt_cfg_set_parami(cfg, 3, n);
        __typeof__(&truncate_doubles) made = MAKE(cfg, truncate_doubles, NEW);
        truncate_doubles(numbers, want, want_wide, n);
        made(numbers, got, got_wide, n);
        CHECK_THAT(!memcmp(want, got, n * sizeof(*want)) && !memcmp(want_wide, got_wide, n * sizeof(*want_wide)));
    }
}

static bool near(const float *a, const float *b, int n, float most) {
    for (int i = 0; i < n; i++)
        if (!(fabsf(a[i] - b[i]) <= most * fabsf(a[i])))
            return false;
    return true;
}

/* Vectors in loops, with arithmetic as of real numbers and without. */
static void test_vectors(void) {
    float in[4 * NUMBERS], factor[NUMBERS], want[2 * NUMBERS], got[2 * NUMBERS];
    for (int i = 0; i < 4 * NUMBERS; i++)
        in[i] = 1 + (float)(i * 7 % 23) / 16;
    for (int i = 0; i < NUMBERS; i++)
        factor[i] = (float)(i % 5 + 1) / 4;
    for (int fast = 0; fast < 2; fast++) {
        for (size_t n = 1; n < NUMBERS; n += 9) {
            BinoptCfgRef cfg = configure(weighted_mean, "vpprL");
            binopt_cfg_set_paramp(cfg, 1, factor, sizeof(factor), BINOPT_MEM_CONST);
            binopt_cfg_set_parami(cfg, 3, n);
            binopt_cfg_set(cfg, BINOPT_F_FASTMATH, (size_t)fast);
            __typeof__(&weighted_mean) mean = MAKE(cfg, weighted_mean, NEW);
            weighted_mean(in, factor, want, n);
            mean(in, factor, got, n);
            CHECK_THAT(near(want, got, 4, fast ? 1e-5f : 0));
        }
        for (size_t terms = 4; terms <= 32; terms += 14) {
            BinoptCfgRef cfg = configure(strided_sums, "vprpLLL");
            binopt_cfg_set_paramp(cfg, 2, factor, sizeof(factor), BINOPT_MEM_CONST);
            binopt_cfg_set_parami(cfg, 3, terms);
            binopt_cfg_set_parami(cfg, 4, 3);
            binopt_cfg_set(cfg, BINOPT_F_FASTMATH, (size_t)fast);
            __typeof__(&strided_sums) sums = MAKE(cfg, strided_sums, NEW);
            strided_sums(in, want, factor, terms, 3, NUMBERS);
            sums(in, got, factor, terms, 3, NUMBERS);
            CHECK_THAT(near(want, got, NUMBERS, fast ? 1e-5f : 0));
        }
        BinoptCfgRef cfg = configure(reciprocals, "vprrL");
        binopt_cfg_set_parami(cfg, 3, NUMBERS);
        binopt_cfg_set(cfg, BINOPT_F_FASTMATH, (size_t)fast);
        __typeof__(&reciprocals) both = MAKE(cfg, reciprocals, NEW);
        reciprocals(in, want, want + NUMBERS, NUMBERS);
        both(in, got, got + NUMBERS, NUMBERS);
        CHECK_THAT(near(want, got, 2 * NUMBERS, fast ? 1e-3f : 0));
    }
}

static void test_memory(void) {
    static double from[SIDE * SIDE], to[SIDE * SIDE], expected[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        from[i] = i * 0.5 + i % 7;
    Flat flat = {4, {{.25, -1, 0}, {.25, 1, 0}, {.25, 0, -1}, {.25, 0, 1}}};
    BinoptCfgRef cfg = configure(stencil_flat, "vpppi");
    binopt_cfg_set_paramp(cfg, 0, &flat, sizeof(flat), BINOPT_MEM_CONST);
    __typeof__(&stencil_flat) f = MAKE(cfg, stencil_flat, NEW);
    Group a = {.25, 2, {{-1, 0}, {1, 0}}}, b = {.5, 3, {{0, -1}, {0, 1}, {2, 2}}};
    Sorted sorted = {2, {&a, &b}};
    cfg = configure(stencil_sorted, "vpppi");
    binopt_cfg_set_paramp(cfg, 0, &sorted, sizeof(sorted), BINOPT_MEM_NESTED_CONST);
    __typeof__(&stencil_sorted) s = MAKE(cfg, stencil_sorted, NEW);
    for (int y = 2; y < SIDE - 2; y++)
        for (int x = 2; x < SIDE - 2; x++) {
            f(&flat, from, to, y * SIDE + x);
            stencil_flat(&flat, from, expected, y * SIDE + x);
            CHECK_THAT(to[y * SIDE + x] == expected[y * SIDE + x]);
            s(&sorted, from, to, y * SIDE + x);
            stencil_sorted(&sorted, from, expected, y * SIDE + x);
            CHECK_THAT(to[y * SIDE + x] == expected[y * SIDE + x]);
        }

    Node third = {30, NULL}, second = {20, &third}, first = {10, &second};
    cfg = configure(list_sum, "lpl");
    binopt_cfg_set_paramp(cfg, 0, &first, sizeof(first), BINOPT_MEM_NESTED_CONST);
    __typeof__(&list_sum) l = MAKE(cfg, list_sum, NEW);
    CHECK_THAT(l(&first, 7) == 420);
    /* Constant, but not what it leads to. */
    cfg = configure(list_sum, "lpl");
    binopt_cfg_set_paramp(cfg, 0, &first, sizeof(first), BINOPT_MEM_CONST);
    l = MAKE(cfg, list_sum, NEW);
    second.value = 200;
    CHECK_THAT(l(&first, 1) == 240);
    /* Nested, with an exception. */
    cfg = configure(list_sum, "lpl");
    binopt_cfg_set_paramp(cfg, 0, &first, sizeof(first), BINOPT_MEM_NESTED_CONST);
    binopt_cfg_mem(cfg, &third, sizeof(third), BINOPT_MEM_DYNAMIC);
    l = MAKE(cfg, list_sum, NEW);
    third.value = 5;
    CHECK_THAT(l(&first, 1) == 215);

    int numbers[] = {1, 2, 3, 4, 5};
    Span span = {numbers, numbers + 5};
    cfg = configure(span_sum, "lpl");
    binopt_cfg_set_paramp(cfg, 0, &span, sizeof(span), BINOPT_MEM_NESTED_CONST);
    __typeof__(&span_sum) sp = MAKE(cfg, span_sum, NEW);
    CHECK_THAT(sp(&span, 100) == 115);

    for (int i = -1; i < 5; i++) {
        cfg = configure(pick, "pi");
        binopt_cfg_set_parami(cfg, 0, (size_t)i);
        __typeof__(&pick) p = MAKE(cfg, pick, NEW);
        CHECK_THAT(!strcmp(p(i), pick(i)));
    }
    unsigned char bytes[100] = {0};
    cfg = configure(fill, "vpBL");
    binopt_cfg_set_parami(cfg, 1, 0xab);
    __typeof__(&fill) fl = MAKE(cfg, fill, NEW);
    fl(bytes, 0xab, 99);
    CHECK_THAT(bytes[0] == 0xab && bytes[98] == 0xab && bytes[99] == 0);
    long cell = 5;
    cfg = configure(counter, "lpli");
    binopt_cfg_set_paramp(cfg, 0, &cell, sizeof(cell), BINOPT_MEM_DYNAMIC);
    __typeof__(&counter) ct = MAKE(cfg, counter, NEW);
    CHECK_THAT(ct(&cell, 3, 4) == 17 && ct(&cell, -1, 2) == 15);
}

static void test_pointers_to_functions(void) {
    double v[] = {1, 2, 7, 4, 5.5, -3};
    double (*const ops[])(double, double) = {add_two, larger, fmin, fmod};
    for (size_t i = 0; i < 4; i++) {
        BinoptCfgRef cfg = configure(reduce, "dppL");
        binopt_cfg_set_parami(cfg, 0, (size_t)ops[i]);
        __typeof__(&reduce) r = MAKE(cfg, reduce, NEW);
        CHECK_THAT(r(ops[i], v, 6) == reduce(ops[i], v, 6) && r(ops[i], v, 1) == 1);
    }
    BinoptCfgRef cfg = configure(reduce, "dppL");
    binopt_cfg_set_parami(cfg, 2, 5);
    __typeof__(&reduce) r = MAKE(cfg, reduce, NEW);
    for (size_t i = 0; i < 4; i++)
        CHECK_THAT(r(ops[i], v, 5) == reduce(ops[i], v, 5));

    cfg = configure(jump_through, "ip");
    __typeof__(&jump_through) j = MAKE(cfg, jump_through, NEW);
    CHECK_THAT(j(forty_two) == 42);
    binopt_cfg_set_parami(cfg, 0, (size_t)forty_two);
    j = MAKE(cfg, jump_through, NEW);
    CHECK_THAT(j(forty_two) == 42);

    cfg = configure(callbacks, "lpll");
    __typeof__(&callbacks) c = MAKE(cfg, callbacks, NEW);
    CHECK_THAT(c(eight, 20, 7) == callbacks(eight, 20, 7));
    binopt_cfg_set_parami(cfg, 0, (size_t)eight);
    c = MAKE(cfg, callbacks, NEW);
    CHECK_THAT(c(eight, 20, 7) == callbacks(eight, 20, 7));

    cfg = configure(pass_big, "lpll");
    __typeof__(&pass_big) b = MAKE(cfg, pass_big, NEW);
    CHECK_THAT(b(take_big, 20, 7) == pass_big(take_big, 20, 7));
    binopt_cfg_set_parami(cfg, 0, (size_t)take_big);
    b = MAKE(cfg, pass_big, NEW);
    CHECK_THAT(b(take_big, 20, 7) == pass_big(take_big, 20, 7));
}

static void test_calls(void) {
    BinoptCfgRef cfg = configure(text_length, "LpL");
    binopt_cfg_set_parami(cfg, 1, 10);
    __typeof__(&text_length) t = MAKE(cfg, text_length, NEW);
    CHECK_THAT(t("hello", 10) == 15);

    char out[100], expected[100];
    cfg = configure(format_numbers, "ipLidi");
    binopt_cfg_set_parami(cfg, 2, 77);
    __typeof__(&format_numbers) f = MAKE(cfg, format_numbers, NEW);
    int n = f(out, sizeof(out), 77, 2.5, 12), m = format_numbers(expected, sizeof(expected), 77, 2.5, 12);
    CHECK_THAT(n == m && !strcmp(out, expected));

    cfg = configure(with_math, "ddi");
    binopt_cfg_set_parami(cfg, 1, 5);
    __typeof__(&with_math) w = MAKE(cfg, with_math, NEW);
    CHECK_THAT(w(1.5, 5) == with_math(1.5, 5));

    for (int descending = 0; descending < 2; descending++) {
        int v[] = {5, 2, 9, 1};
        cfg = configure(sort_by, "ipLi");
        binopt_cfg_set_parami(cfg, 2, (size_t)descending);
        __typeof__(&sort_by) s = MAKE(cfg, sort_by, NEW);
        CHECK_THAT(s(v, 4, descending) == (descending ? 9 : 1) && v[3] == (descending ? 1 : 9));
    }
    cfg = configure(fib, "lii");
    binopt_cfg_set_parami(cfg, 1, 2);
    __typeof__(&fib) fb = MAKE(cfg, fib, NEW);
    CHECK_THAT(fb(15, 2) == 610);
    cfg = configure(is_even, "iI");
    __typeof__(&is_even) e = MAKE(cfg, is_even, NEW);
    CHECK_THAT(e(10) == 1 && e(7) == 0);
    binopt_cfg_set_parami(cfg, 0, 5);
    e = MAKE(cfg, is_even, NEW);
    CHECK_THAT(e(5) == 0);

    cfg = configure(helper_chain, "llll");
    binopt_cfg_set_parami(cfg, 1, 3);
    __typeof__(&helper_chain) h = MAKE(cfg, helper_chain, NEW);
    CHECK_THAT(h(100, 3, -7) == helper_chain(100, 3, -7));
    cfg = configure(checked, "iii");
    binopt_cfg_set_parami(cfg, 1, 100);
    __typeof__(&checked) c = MAKE(cfg, checked, NEW);
    CHECK_THAT(c(9, 100) == 18);
    char text[] = "abcdefgh12345678";
    cfg = configure(swap_halves, "vpL");
    binopt_cfg_set_parami(cfg, 1, 16);
    __typeof__(&swap_halves) s = MAKE(cfg, swap_halves, NEW);
    s(text, 16);
    CHECK_THAT(!strcmp(text, "12345678abcdefgh"));
}

static void test_arguments(void) {
    BinoptCfgRef cfg = configure(many_ints, "lilhbIllihl");
    binopt_cfg_set_parami(cfg, 0, 9);
    binopt_cfg_set_parami(cfg, 7, 12);
    __typeof__(&many_ints) m = MAKE(cfg, many_ints, NEW);
    CHECK_THAT(m(9, -2, 3, -4, 5, 6, -7, 12, -9, 10) == many_ints(9, -2, 3, -4, 5, 6, -7, 12, -9, 10));
    cfg = configure(many_floats, "ddfdfdfdfdfl");
    double fixed = 1.5;
    float narrow = -2.25f;
    binopt_cfg_set_param(cfg, 2, &fixed);
    binopt_cfg_set_param(cfg, 9, &narrow);
    __typeof__(&many_floats) f = MAKE(cfg, many_floats, NEW);
    CHECK_THAT(f(1, 2, 1.5, 4, 5, 6, 7, 8, 9, -2.25f, 11) == many_floats(1, 2, 1.5, 4, 5, 6, 7, 8, 9, -2.25f, 11));
    cfg = configure(scale, "fff");
    binopt_cfg_set_param(cfg, 1, &narrow);
    __typeof__(&scale) s = MAKE(cfg, scale, NEW);
    CHECK_THAT(s(3.5f, -2.25f) == scale(3.5f, -2.25f));
}

static void test_frames(void) {
    BinoptCfgRef cfg = configure(local_array, "lii");
    binopt_cfg_set_parami(cfg, 0, 20);
    __typeof__(&local_array) l = MAKE(cfg, local_array, NEW);
    CHECK_THAT(l(20, 5) == local_array(20, 5));
    binopt_cfg_set(cfg, BINOPT_F_STACKSZ, 64);
    MAKE(cfg, local_array, SAME);
    cfg = configure(variable_array, "lii");
    __typeof__(&variable_array) v = MAKE(cfg, variable_array, NOT_LIFTED);
    CHECK_THAT(v(20, 5) == variable_array(20, 5));
    cfg = configure(jumps_back, "ii");
    __typeof__(&jumps_back) j = MAKE(cfg, jumps_back, SAME);
    CHECK_THAT(j(3) == 3);
    cfg = configure(extended, "ddd");
    __typeof__(&extended) x = MAKE(cfg, extended, NOT_LIFTED);
    CHECK_THAT(x(2, 3) == 7);
}

static int signal_of(void (*run)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        signal(SIGFPE, SIG_DFL); /* a sanitizer may have its own idea */
        signal(SIGABRT, SIG_DFL);
        run();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static __typeof__(&divide) division;
static __typeof__(&checked) checking;
static void divide_by_zero(void) {
    exit(division(5, 0));
}
static void fail_check(void) {
    exit(checking(101, 100));
}

static void test_faults(void) {
    BinoptCfgRef cfg = configure(divide, "iii");
    division = MAKE(cfg, divide, NEW);
    CHECK_THAT(signal_of(divide_by_zero) == SIGFPE && division(-7, 2) == -3);
    cfg = configure(checked, "iii");
    binopt_cfg_set_parami(cfg, 1, 100);
    checking = MAKE(cfg, checked, NEW);
    CHECK_THAT(signal_of(fail_check) == SIGABRT);
}

static void test_nonsense(void) {
    static unsigned char junk[64];
    CHECK_THAT(MAKE(configure(junk, "ii"), junk, SAME) == &junk);
    void *nowhere = (void *)16;
    CHECK_THAT(make(configure(nowhere, "ii"), nowhere, SAME, __LINE__) == nowhere);
    BinoptCfgRef cfg = configure(subtract, "iii");
    binopt_cfg_set_parami(cfg, 7, 1);
    binopt_cfg_set(cfg, (BinoptOptFlags)9999, 1);
    binopt_cfg_mem(cfg, NULL, 0, BINOPT_MEM_CONST);
    __typeof__(&subtract) f = MAKE(cfg, subtract, NEW);
    CHECK_THAT(f(3, 4) == -1);
    binopt_spec_delete(handle, (BinoptFunc)f);
    binopt_spec_delete(handle, (BinoptFunc)subtract);
    /* A specialised function is a function. */
    cfg = configure(helper_chain, "llll");
    binopt_cfg_set_parami(cfg, 1, 3);
    __typeof__(&helper_chain) once = MAKE(cfg, helper_chain, NEW);
    cfg = configure((void *)once, "llll");
    binopt_cfg_set_parami(cfg, 0, 5);
    __typeof__(&helper_chain) twice = (__typeof__(&helper_chain))binopt_spec_create(cfg);
    CHECK_THAT(twice(5, 3, 8) == helper_chain(5, 3, 8));
}

/* Loops over tables are unrolled, registers that walk through memory become pointers. */
static void test_tables(void) {
    static const Step program[] = {{0, 3, 0, 7}, {1, 40, 2, 0},  {2, 5, 0, 1000}, {1, 1, 60, 0},
                                   {0, 0, 0, 1}, {2, 90, 0, 12}, {3, 1, 0, 0},    {0, 1, 0, 1}};
    static const Step *data = program;
    long memory[64], near[9], far[9], expected[9];
    for (int i = 0; i < 64; i++)
        memory[i] = i * 77 - 1000;
    for (int count = 1; count <= 8; count += count < 5 ? 1 : 3) {
        BinoptCfgRef cfg = configure(interpret, "lpilp");
        binopt_cfg_set_paramp(cfg, 0, data, sizeof(program), BINOPT_MEM_CONST);
        binopt_cfg_set_parami(cfg, 1, (size_t)count);
        __typeof__(&interpret) f = MAKE(cfg, interpret, NEW);
        for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
            CHECK_THAT(f(data, count, edges[i], memory) == interpret(data, count, edges[i], memory));
    }
    BinoptCfgRef cfg = configure(far_away, "lrpi");
    binopt_cfg_set_parami(cfg, 2, 9);
    __typeof__(&far_away) g = MAKE(cfg, far_away, NEW);
    for (int i = 0; i < 9; i++) {
        near[i] = i * 5 - 3;
        far[i] = expected[i] = 100 - i;
    }
    long sum = far_away(near, expected, 9);
    CHECK_THAT(g(near, far, 9) == sum && !memcmp(far, expected, sizeof(far)));

    float weight[30], rows[4 * 60], out[4 * 30], want[4 * 30];
    for (int i = 0; i < 4 * 60; i++)
        rows[i] = (float)(i * 37 % 64 + 1);
    for (int n = 1; n <= 30; n += n < 4 ? 1 : 13) {
        for (int k = 0; k < n; k++)
            weight[k] = (float)(k % 5 + 1);
        cfg = configure(weigh, "fpippi");
        binopt_cfg_set_paramp(cfg, 0, weight, sizeof(weight), BINOPT_MEM_CONST);
        binopt_cfg_set_parami(cfg, 1, (size_t)n);
        binopt_cfg_set(cfg, BINOPT_F_FASTMATH, 1);
        binopt_cfg_set(cfg, BINOPT_F_NOWRAP, n % 2);
        __typeof__(&weigh) w = MAKE(cfg, weigh, NEW);
        float all = weigh(weight, n, rows, want, 30);
        CHECK_THAT(w(weight, n, rows, out, 30) == all && !memcmp(out, want, sizeof(out)));
    }
}

/* What random functions have shown (fuzz/binopt). */
static void test_found(void) {
    long v[] = {7, 0, 0, 0, 5};
    BinoptCfgRef cfg = configure(first_and_fifth, "lpl");
    binopt_cfg_set_paramp(cfg, 0, v, sizeof(long), BINOPT_MEM_NESTED_CONST); /* of what is behind nothing was said */
    __typeof__(&first_and_fifth) ff = MAKE(cfg, first_and_fifth, NEW);
    v[4] = 6;
    CHECK_THAT(ff(v, 10) == 76);

    cfg = configure(with_high_byte, "lll");
    binopt_cfg_set_parami(cfg, 1, 0x1234);
    __typeof__(&with_high_byte) high = MAKE(cfg, with_high_byte, NEW);
    CHECK_THAT(high(0x5678, 0x1234) == with_high_byte(0x5678, 0x1234));

    cfg = configure(with_carry, "llL");
    binopt_cfg_set_parami(cfg, 0, 0x1234567890);
    __typeof__(&with_carry) carry = MAKE(cfg, with_carry, NEW);
    CHECK_THAT(carry(0x1234567890, 999) == with_carry(0x1234567890, 999));
    CHECK_THAT(carry(0x1234567890, 1000) == with_carry(0x1234567890, 1000));

    double from[] = {1, 2, 3, 4}, to[4] = {0}, expected[4];
    cfg = configure(mixed_vectors, "vppl");
    binopt_cfg_set_parami(cfg, 2, 99);
    __typeof__(&mixed_vectors) mixed = MAKE(cfg, mixed_vectors, NOT_LIFTED);
    if (__builtin_cpu_supports("avx")) {
        mixed_vectors(from, expected, 99);
        mixed(from, to, 99);
        CHECK_THAT(!memcmp(to, expected, sizeof(to)));
    }

    /* A comparison that is as far from equal as can be. */
    cfg = configure(count_up, "llll");
    binopt_cfg_set_parami(cfg, 0, (size_t)LONG_MAX - 2);
    binopt_cfg_set_parami(cfg, 1, 0);
    __typeof__(&count_up) up = MAKE(cfg, count_up, NEW);
    CHECK_THAT(up(LONG_MAX - 2, 0, 9) == count_up(LONG_MAX - 2, 0, 9));

    cfg = configure(aligned_store, "lll");
    binopt_cfg_set_parami(cfg, 1, 7);
    __typeof__(&aligned_store) aligned = (__typeof__(&aligned_store))binopt_spec_create(cfg);
    CHECK_THAT(aligned(1000, 7) == aligned_store(1000, 7));

    cfg = configure(same_arguments, "lpll");
    binopt_cfg_set_parami(cfg, 2, 9);
    binopt_cfg_set_parami(cfg, 1, 5);
    __typeof__(&same_arguments) same = MAKE(cfg, same_arguments, NEW);
    CHECK_THAT(same(eats_arguments, 5, 9) == same_arguments(eats_arguments, 5, 9));

    cfg = configure(calls_upon_calls, "lll");
    binopt_cfg_set_parami(cfg, 1, 3);
    __typeof__(&calls_upon_calls) calls = (__typeof__(&calls_upon_calls))binopt_spec_create(cfg);
    CHECK_THAT(calls(5, 3) == calls_upon_calls(5, 3));

    /* To find out what comes out of a division is not to divide. */
    double none[] = {0, 1};
    feenableexcept(FE_DIVBYZERO | FE_INVALID);
    cfg = configure(divide_numbers, "dpd");
    binopt_cfg_set_paramp(cfg, 0, none, sizeof(none), BINOPT_MEM_CONST);
    __typeof__(&divide_numbers) dn = MAKE(cfg, divide_numbers, NEW);
    fedisableexcept(FE_DIVBYZERO | FE_INVALID);
    CHECK_THAT(isinf(dn(none, 1)) && dn(none, -1) == 1);
}

/* The same again is the same; other memory is not. */
static void test_again(void) {
    static int v[] = {1, 2, 3, 4};
    v[0] = 1;
    BinoptCfgRef cfg = configure(sum_array, "lLp");
    binopt_cfg_set_parami(cfg, 0, 4);
    binopt_cfg_set_paramp(cfg, 1, v, sizeof(v), BINOPT_MEM_CONST);
    __typeof__(&sum_array) first = MAKE(cfg, sum_array, NEW), second = MAKE(binopt_cfg_clone(cfg), sum_array, NEW);
    CHECK_THAT(first == second && first(4, v) == 10);
    v[0] = 100;
    second = MAKE(cfg, sum_array, NEW);
    CHECK_THAT(second(4, v) == 109);
    BinoptHandle mine = handle;
    handle = binopt_init();
    __typeof__(&sum_array) other = MAKE(cfg, sum_array, NEW);
    CHECK_THAT(other(4, v) == 109);
    binopt_fini(handle);
    handle = mine;
    CHECK_THAT(second(4, v) == 109);
}

/* With another value than the fixed one a guard leads to what the function was made from, which may have been deleted. */
static void test_base(void) {
    BinoptCfgRef cfg = configure(helper_chain, "llll");
    binopt_cfg_set_parami(cfg, 1, 3);
    BinoptFunc first = binopt_spec_create(cfg);
    cfg = configure(first, "llll");
    binopt_cfg_set_parami(cfg, 2, 8);
    binopt_cfg_set(cfg, BINOPT_F_GUARD, 1);
    __typeof__(&helper_chain) second = (__typeof__(&helper_chain))binopt_spec_create(cfg);
    if (second == first)
        return;
    binopt_spec_delete(handle, first);
    BinoptFunc others[8]; /* that would be in its place */
    for (int i = 0; i < 8; i++) {
        cfg = configure(subtract, "iii");
        binopt_cfg_set_parami(cfg, 1, (size_t)(5000 + i));
        others[i] = binopt_spec_create(cfg);
    }
    CHECK_THAT(second(5, 3, 8) == helper_chain(5, 3, 8) && second(5, 3, 9) == helper_chain(5, 3, 9));
    binopt_spec_delete(handle, (BinoptFunc)second);
    for (int i = 0; i < 8; i++)
        binopt_spec_delete(handle, others[i]);
}

/* What could not be written to when it was read, and can be now, is not constant any more. */
static void test_permissions(void) {
    long *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[0] = 7;
    page[4] = 5;
    mprotect(page, 4096, PROT_READ);
    BinoptCfgRef cfg = configure(first_and_fifth, "lpl");
    binopt_cfg_set_param(cfg, 0, &page);
    __typeof__(&first_and_fifth) first = MAKE(cfg, first_and_fifth, NEW);
    CHECK_THAT(first(page, 10) == 75);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    __typeof__(&first_and_fifth) second = MAKE(cfg, first_and_fifth, NEW);
    page[4] = 6;
    CHECK_THAT(second(page, 10) == 76);
    binopt_spec_delete(handle, (BinoptFunc)first);
    binopt_spec_delete(handle, (BinoptFunc)second);
    munmap(page, 4096);
}

/* Whatever is allowed, no more is needed than that. */
static void test_stack_sizes(void) {
    static const size_t sizes[] = {(size_t)1 << 32, (size_t)1 << 33, ((size_t)1 << 40) + 8, ~(size_t)0};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        BinoptCfgRef cfg = configure(local_array, "lii");
        binopt_cfg_set_parami(cfg, 0, 5);
        binopt_cfg_set(cfg, BINOPT_F_STACKSZ, sizes[i]);
        __typeof__(&local_array) l = MAKE(cfg, local_array, NEW);
        CHECK_THAT(l(5, 3) == local_array(5, 3));
    }
}

/* A function goes when it was deleted as often as it was created; its place is used again. */
static void test_deletion(void) {
    BinoptCfgRef cfg = configure(subtract, "iii");
    binopt_cfg_set_parami(cfg, 1, 1001);
    __typeof__(&subtract) first = MAKE(cfg, subtract, NEW), second = MAKE(cfg, subtract, NEW);
    CHECK_THAT(first == second);
    binopt_spec_delete(handle, (BinoptFunc)first);
    CHECK_THAT(second(2000, 1001) == 999);
    binopt_spec_delete(handle, (BinoptFunc)second);
    binopt_spec_delete(handle, NULL);
    __typeof__(&subtract) highest = NULL;
    for (int i = 0; i < 3000; i++) {
        __typeof__(&subtract) made = MAKE(cfg, subtract, NEW);
        highest = made > highest ? made : highest;
        if (made(i, 1001) != i - 1001)
            CHECK_THAT(!"the same again");
        binopt_spec_delete(handle, (BinoptFunc)made);
    }
    CHECK_THAT(highest == first);
    /* Others have used the place in between; one is made from another that is gone then. */
    BinoptFunc many[20];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20; i += 1 + round) {
            void *function = i % 4 ? (void *)subtract : (void *)hash;
            cfg = configure(function, i % 4 ? "iii" : "IpLI");
            binopt_cfg_set_parami(cfg, i % 4 ? 1 : 2, (size_t)i);
            many[i] = make(cfg, function, NEW, __LINE__);
        }
        for (int i = 0; i < 20; i += 1 + round) {
            if (i % 4)
                CHECK_THAT(((__typeof__(&subtract))many[i])(50, i) == 50 - i);
            else
                CHECK_THAT(((__typeof__(&hash))many[i])((void *)"abc", 3, (unsigned)i) ==
                           hash((void *)"abc", 3, (unsigned)i));
            binopt_spec_delete(handle, many[i]);
        }
    }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The shortest time that some calls of it take. A busy machine makes times longer, so that of many one is right. */
static double shortest(__typeof__(&sum_array) sum, size_t len, const int *buf) {
    enum { ROUNDS = 1000, CALLS = 50 };
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        for (int i = 0; i < CALLS; i++)
            sum(len, buf);
        best = fmin(best, seconds() - start);
    }
    return best;
}

/* Where nothing is known there is nothing to gain; where a loop becomes a number there is, and it shows in the time that calls take. */
static void test_gain(void) {
    enum { LEN = 100 };
    static int v[LEN];
    if (!may_keep())
        return;
    CHECK_THAT(MAKE(configure(nothing_known, "lll"), nothing_known, SAME)(3, 4) == nothing_known(3, 4));
    for (int i = 0; i < LEN; i++)
        v[i] = i;
    BinoptCfgRef cfg = configure(sum_array, "lLp");
    binopt_cfg_set_parami(cfg, 0, LEN);
    binopt_cfg_set_paramp(cfg, 1, v, sizeof(v), BINOPT_MEM_CONST);
    __typeof__(&sum_array) sum = MAKE(cfg, sum_array, NEW);
    CHECK_THAT(sum != sum_array && sum(LEN, v) == LEN * (LEN - 1) / 2);
    CHECK_THAT(shortest(sum, LEN, v) < 0.75 * shortest(sum_array, LEN, v));
}

/* Of what can be specialised, most is. The rest is so short that the original stays. */
static void check_gains(void) {
    int gained = 0, tried = 0;
    for (size_t line = 0; line < sizeof(gains) / sizeof(*gains); line++) {
        tried += gains[line] != NOT_TRIED;
        gained += gains[line] == GAINED;
    }
    if (!may_keep())
        return;
    printf("%d of %d kinds of functions are new\n", gained, tried);
    CHECK_THAT(gained > tried / 2);
}

static void test_base_elsewhere(void) {
    if (!getenv("BINOPT_CACHE")) /* such memory is not at the same place in other runs, which are counted there */
        test_base();
}

static void (*const tests[])(void) = {
    test_integers,
    test_quotients,
    test_indices,
    test_lanes,
    test_distances,
    test_loops,
    test_nested_loops,
    test_conversions,
    test_vectors,
    test_memory,
    test_pointers_to_functions,
    test_calls,
    test_arguments,
    test_frames,
    test_faults,
    test_nonsense,
    test_tables,
    test_found,
    test_again,
    test_permissions,
    test_base_elsewhere,
    test_stack_sizes,
    test_deletion,
    test_gain,
};
enum { TESTS = sizeof(tests) / sizeof(*tests) };

/* With an argument: only without guards, and only so many of the tests. */
int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : TESTS;
    for (int i = 0; i < (argc > 1 ? 1 : 2); i++) {
        guarded = i;
        handle = binopt_init();
        for (int t = 0; t < count && t < TESTS; t++)
            tests[t]();
        binopt_fini(handle);
    }
    check_gains();
    printf("%d of %d checks failed (%s)\n", failures, checks, binopt_driver());
    return failures != 0;
}
