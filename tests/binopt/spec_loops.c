/* spec_loops.c: specialised loops: over arrays, tables and vectors. */
#include <math.h>

#include "spec.h"

/* With and without the promise that indices do not overflow. */
void test_indices(void) {
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
    }
}

/* What is promised of indices is not promised of other numbers. */
void test_wrapping_numbers(void) {
    for (int nowrap = 0; nowrap < 2; nowrap++) {
        BinoptCfgRef cfg = configure(wrapped_double, "lii");
        binopt_cfg_set_parami(cfg, 1, 6);
        binopt_cfg_set(cfg, BINOPT_F_NOWRAP, (size_t)nowrap);
        __typeof__(&wrapped_double) twice = MAKE(cfg, wrapped_double, NEW);
        CHECK_THAT(twice(0x96d5c3da, 6) == wrapped_double(0x96d5c3da, 6) && twice(5, 6) == 16);

        cfg = configure(wrapped_factor, "lpi");
        binopt_cfg_set_parami(cfg, 1, 1000003);
        binopt_cfg_set(cfg, BINOPT_F_NOWRAP, (size_t)nowrap);
        __typeof__(&wrapped_factor) factor = MAKE(cfg, wrapped_factor, NEW);
        for (unsigned x = 0; x < 100000; x += 9999)
            CHECK_THAT(factor(&x, 1000003) == wrapped_factor(&x, 1000003));

        cfg = configure(wrapped_sum, "lii");
        binopt_cfg_set_parami(cfg, 1, 0x7fffff00);
        binopt_cfg_set(cfg, BINOPT_F_NOWRAP, (size_t)nowrap);
        __typeof__(&wrapped_sum) sum = MAKE(cfg, wrapped_sum, NEW);
        for (unsigned x = 0; x < 0x400; x += 0x80)
            CHECK_THAT(sum(x, 0x7fffff00) == wrapped_sum(x, 0x7fffff00));
    }
}

/* The results and what is stored, to the last bit. */
void test_lanes(void) {
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

void test_distances(void) {
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

void test_loops(void) {
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
void test_nested_loops(void) {
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

static bool near(const float *a, const float *b, int n, float most) {
    for (int i = 0; i < n; i++)
        if (!(fabsf(a[i] - b[i]) <= most * fabsf(a[i])))
            return false;
    return true;
}

/* Vectors in loops, with arithmetic as of real numbers and without. */
void test_vectors(void) {
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

/* Loops over tables are unrolled, registers that walk through memory become pointers. */
void test_tables(void) {
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
