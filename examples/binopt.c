/* binopt.c: a filter whose weights are known only when the program runs, specialised for them. */
#include <binopt.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Filter {
    int radius;
    float weight[16]; /* 2 * radius + 1 of them */
} Filter;

/* General code: any filter, any length. */
__attribute__((noinline)) static void apply(const Filter *filter, const float *in, float *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k <= 2 * filter->radius; k++)
            sum += filter->weight[k] * in[i + (size_t)k];
        out[i] = sum;
    }
}

typedef void Apply(const Filter *filter, const float *in, float *out, size_t n);

static Apply *specialize(BinoptHandle handle, const Filter *filter) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)apply);
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR_NOALIAS, BINOPT_TY_UINT64);
    binopt_cfg_set_paramp(cfg, 0, filter, sizeof(*filter), BINOPT_MEM_CONST);
    Apply *made = (Apply *)binopt_spec_create(cfg);
    binopt_cfg_free(cfg);
    return made;
}

int main(int argc, char **argv) {
    enum { N = 1000 };
    static float in[N + 16], general[N], special[N];
    Filter filter = {.radius = argc > 1 ? atoi(argv[1]) % 8 : 3};
    for (int k = 0; k <= 2 * filter.radius; k++)
        filter.weight[k] = 1.0f / (float)(2 * filter.radius + 1);
    for (int i = 0; i < N + 16; i++)
        in[i] = (float)(i * 37 % 101);

    BinoptHandle handle = binopt_init();
    Apply *fast = specialize(handle, &filter);
    apply(&filter, in, general, N);
    fast(&filter, in, special, N); /* the fixed parameter is passed all the same: this may be the original */
    int different = 0;
    for (int i = 0; i < N; i++)
        different += general[i] != special[i];
    printf("%s: %s function, %d of %d results differ\n", binopt_driver(), fast == apply ? "the original" : "a new",
           different, N);
    binopt_fini(handle);
    return different != 0;
}
