/* spec_memory.c: specialised functions with constant memory, calls, arguments and frames. */
#include <math.h>

#include "spec.h"

void test_memory(void) {
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

void test_pointers_to_functions(void) {
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

void test_calls(void) {
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

void test_arguments(void) {
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

void test_frames(void) {
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
