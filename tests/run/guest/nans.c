/* nans.c: the bits of results that are not numbers, after chains of operations, in loops, through calls and memory. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static volatile double infinite = INFINITY, one = 1, three = 3;
static volatile float infinite_single = INFINITY;
static double cells[4];

static uint64_t bits(double v) {
    uint64_t b;
    memcpy(&b, &v, 8);
    return b;
}

static double own_nan(uint64_t payload) {
    double v;
    payload |= (uint64_t)0x7ff8 << 48;
    memcpy(&v, &payload, 8);
    return v;
}

static void show(const char *what, double v) {
    printf("%s %016llx\n", what, (unsigned long long)bits(v));
}

static __attribute__((noinline)) double step(double v, double by) {
    return v * by - by;
}

/* The sum begins with bits of its own, and is looked at in the loop now and then. */
static __attribute__((noinline)) double sum(double from, double by, int n, int look) {
    double v = from;
    for (int i = 0; i < n; i++) {
        if (i == look)
            show("within", v);
        v += by;
    }
    return v;
}

static __attribute__((noinline)) double power(double of, int n) {
    double v = 0;
    for (int i = 0; i < n; i++)
        v = v * of - of;
    return v;
}

int main(void) {
    double none = infinite - infinite;
    show("difference", none);
    show("chain", (none * three + one) / three);
    show("negated", -(none * three));
    show("size", fabs(-none));
    show("called", step(none, three));
    show("sum", sum(0, none, 5, 3));
    show("sum of its own", sum(own_nan(0x123), one, 5, 0));
    show("sum of its own, later", sum(own_nan(0x123), one, 5, 2));
    show("untouched", sum(own_nan(0x456), one, 0, 0));
    show("power", power(infinite, 3));
    for (int i = 0; i < 4; i++)
        cells[i] = i & 1 ? none * i : own_nan((uint64_t)i << 20);
    for (int i = 0; i < 4; i++)
        show("cell", cells[i]);
    float single = infinite_single - infinite_single;
    show("wide", single * 2.0f);
    show("made narrow", (float)(none + one));
    return 0;
}
