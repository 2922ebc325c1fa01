/* types.c: signatures from debug information. */
#include <binopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SUBJECT __attribute__((noinline, used))

typedef enum Colour { RED, GREEN } Colour;
typedef unsigned short Short;
typedef struct Pair {
    int a, b;
} Pair;

SUBJECT double mixed(const int8_t a, Short b, float c, double d, const char *restrict e, Colour f, bool g, int64_t h) {
    return a + b + c + d + e[0] + f + g + (double)h;
}
SUBJECT int by_value(Pair p, int c) {
    return p.a + p.b + c;
}
SUBJECT int many(int count, ...) {
    return count;
}
SUBJECT long twice(long x, int y) {
    return 2 * x + y;
}

static int failures;

static void check(bool right, const char *what) {
    failures += !right;
    if (!right)
        printf("%s\n", what);
}

/* What the library says on standard error while it is told a type. */
static bool complains(BinoptHandle handle, BinoptType second) {
    int saved = dup(2), ends[2];
    char text[512] = "";
    if (pipe(ends))
        return false;
    dup2(ends[1], 2);
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)twice);
    binopt_cfg_set(cfg, BINOPT_F_LOGLEVEL, 1);
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT64, BINOPT_TY_INT64, second);
    dup2(saved, 2);
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof(text) - 1);
    close(ends[0]);
    close(saved);
    return n > 0 && strstr(text, "is not that of the debug information");
}

int main(void) {
    BinoptHandle handle = binopt_init();
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)mixed);
    double d = 2.5;
    float c = 0.25f;
    binopt_cfg_set_parami(cfg, 0, (size_t)-5);
    binopt_cfg_set_param(cfg, 2, &c);
    binopt_cfg_set_param(cfg, 3, &d);
    binopt_cfg_set_parami(cfg, 7, 1000);
    __typeof__(&mixed) m = (__typeof__(&mixed))binopt_spec_create(cfg);
    check(m != mixed, "mixed is specialised");
    check(m(-5, 60000, 0.25f, 2.5, "A", GREEN, true, 1000) == mixed(-5, 60000, 0.25f, 2.5, "A", GREEN, true, 1000),
          "mixed");
    check(m(0, 1, 0, 0, "A", RED, false, 0) == mixed(-5, 1, 0.25f, 2.5, "A", RED, false, 1000), "values are fixed");
    cfg = binopt_cfg_new(handle, (BinoptFunc)by_value);
    check(binopt_spec_create(cfg) == (BinoptFunc)by_value, "structs by value have no type");
    cfg = binopt_cfg_new(handle, (BinoptFunc)many);
    check(binopt_spec_create(cfg) == (BinoptFunc)many, "variable arguments have no type");
    check(complains(handle, BINOPT_TY_DOUBLE), "a wrong type is reported");
    check(!complains(handle, BINOPT_TY_UINT32), "a right type is not");
    binopt_fini(handle);
    return failures != 0;
}
