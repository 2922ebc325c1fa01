/* whole.c: a function whose result or parameters are more than its declared type says is either left alone, with a reason, or keeps
 * everything. The subjects are compiled with debug information and without, and declared as one integer or number, or not at all. */
#include "whole.h"

#include <binopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { FACTOR = 7 };

static int failures, specialised, left_alone;
static BinoptHandle handle;

static void check(bool right, const char *name, const char *type) {
    failures += !right;
    if (!right)
        printf("%s declared as %s: the result is not the original's\n", name, type);
}

/* A version for k = FACTOR, of a function with `count` parameters of which k is the second last or given by `fixed`. */
static BinoptFunc make(BinoptFunc function, BinoptType ret, unsigned count, unsigned fixed, const char *name) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, function);
    if (ret != BINOPT_TY_VOID)
        binopt_cfg_type(cfg, count, ret, BINOPT_TY_INT64, BINOPT_TY_INT64, BINOPT_TY_INT64, BINOPT_TY_INT64);
    binopt_cfg_set_parami(cfg, fixed, FACTOR);
    BinoptFunc made = binopt_spec_create(cfg);
    specialised += made != function;
    left_alone += made == function;
    if (made == function && !binopt_spec_reason(cfg)) {
        failures++;
        printf("%s: it was left alone without a reason\n", name);
    }
    return made;
}

static const struct {
    BinoptType type;
    const char *name;
} types[] = {
    {BINOPT_TY_INT64, "int64"}, {BINOPT_TY_PTR, "pointer"}, {BINOPT_TY_DOUBLE, "double"}, {BINOPT_TY_VOID, "nothing"}};

/* Results are compared whole, as the bytes of what the caller gets. Padding is not: members are copied. */
#define CHECK_RESULT(function, equal)                                                                                  \
    for (unsigned t = 0; t < sizeof(types) / sizeof(*types); t++) {                                                    \
        __typeof__(&function) made =                                                                                   \
            (__typeof__(&function))make((BinoptFunc)function, types[t].type, 2, 1, #function);                         \
        for (long x = -3; x < 100000; x = x * 5 + 17) {                                                                \
            __typeof__(function(x, FACTOR)) a = function(x, FACTOR), b = made(x, FACTOR);                              \
            check(equal, #function, types[t].name);                                                                    \
        }                                                                                                              \
    }

static void check_results(void) {
    CHECK_RESULT(return_longs, a.a == b.a && a.b == b.b)
    CHECK_RESULT(return_called, a.a == b.a && a.b == b.b)
    CHECK_RESULT(return_quotients, a.a == b.a && a.b == b.b)
    CHECK_RESULT(return_wide, a == b)
    CHECK_RESULT(return_long_double, a.a == b.a && a.b == b.b)
    CHECK_RESULT(return_double_long, a.a == b.a && a.b == b.b)
    CHECK_RESULT(return_doubles, a.a == b.a && a.b == b.b)
    CHECK_RESULT(return_floats, a.a == b.a && a.b == b.b)
    CHECK_RESULT(return_small, a.a == b.a && a.b == b.b && !memcmp(a.c, b.c, sizeof(a.c)))
    CHECK_RESULT(return_bits, a.a == b.a && a.b == b.b && a.c == b.c && a.d == b.d)
    CHECK_RESULT(return_complex, a == b)
    CHECK_RESULT(return_complex_float, a == b)
    CHECK_RESULT(return_x87, a == b)
}

static void check_passed(void) {
    for (unsigned count = 2; count <= 3; count++) {
        __typeof__(&return_passed) made =
            (__typeof__(&return_passed))make((BinoptFunc)return_passed, BINOPT_TY_INT64, count, 1, "return_passed");
        Longs a = return_passed(5, FACTOR, 99), b = made(5, FACTOR, 99);
        check(a.a == b.a && a.b == b.b, "return_passed", "int64");
    }
}

/* What is returned in memory has the address of that for its first parameter. */
static void check_memory(void) {
    __typeof__(&return_large) made =
        (__typeof__(&return_large))make((BinoptFunc)return_large, BINOPT_TY_INT64, 3, 2, "return_large");
    Large a = return_large(5, FACTOR), b = made(5, FACTOR);
    check(a.a == b.a && a.b == b.b && a.c == b.c, "return_large", "int64");
}

/* Parameters are counted in registers; those behind the declared ones are passed on. */
static void check_parameters(void) {
    for (unsigned count = 1; count <= 3; count++) {
        BinoptType ret = BINOPT_TY_INT64;
        unsigned fixed = count == 3 ? 2 : 0;
        Longs s = {count == 3 ? 1234567890123 : FACTOR, -987654321};
        __typeof__(&take_longs) longs =
            (__typeof__(&take_longs))make((BinoptFunc)take_longs, ret, count, fixed, "take_longs");
        check(longs(s, FACTOR) == take_longs(s, FACTOR), "take_longs", "some int64");
        LongDouble m = {FACTOR, -12345.75};
        __typeof__(&take_mixed) mixed =
            (__typeof__(&take_mixed))make((BinoptFunc)take_mixed, ret, count, 0, "take_mixed");
        check(mixed(m, 13) == take_mixed(m, 13), "take_mixed", "some int64");
        __typeof__(&take_many) many = (__typeof__(&take_many))make((BinoptFunc)take_many, ret, count, 0, "take_many");
        check(many(FACTOR, 2, 3, 4, 5, 6, 1000, 10000) == take_many(FACTOR, 2, 3, 4, 5, 6, 1000, 10000), "take_many",
              "some int64");
    }
}

/* A parameter and a result that are wider than declared. */
static void check_widths(void) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)return_long);
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, (size_t)-FACTOR);
    __typeof__(&return_long) made = (__typeof__(&return_long))binopt_spec_create(cfg);
    check(made(123456789012, -FACTOR) == return_long(123456789012, -FACTOR), "return_long", "int32");
}

int main(void) {
    handle = binopt_init();
    check_results();
    check_passed();
    check_memory();
    check_parameters();
    check_widths();
    binopt_fini(handle);
    printf("%s: %d specialised, %d left alone, %d wrong\n", binopt_driver(), specialised, left_alone, failures);
    return failures != 0;
}
