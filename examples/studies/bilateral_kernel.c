/* bilateral_kernel.c: see bilateral_kernel.h. */
#include "bilateral_kernel.h"

#include <math.h>

void bilateral_filter(const float *weight, int radius, float preserve, const float *in, int in_width, int in_height,
                      float *out, int width, int height) {
    bilateral_apply(weight, radius, preserve, in, in_width, in_height, out, width, height);
}

int bilateral_weight_count(int radius) {
    return (2 * radius + 1) * (2 * radius + 1);
}

void bilateral_weights(float *weight, int radius) {
    int side = 2 * radius + 1;
    for (int i = 0; i < side * side; i++) {
        double x = i % side - radius, y = i / side - radius;
        weight[i] = (float)exp(-0.5 * (x * x + y * y) / radius);
    }
}

void bilateral_configure(BinoptCfgRef cfg, const float *weight, int radius, int width, int height) {
    binopt_cfg_type(cfg, 9, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_FLOAT, BINOPT_TY_PTR,
                    BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_PTR_NOALIAS, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, weight, (size_t)bilateral_weight_count(radius) * sizeof(*weight), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, (size_t)radius);
    binopt_cfg_set_parami(cfg, 4, (size_t)(width + 2 * radius));
    binopt_cfg_set_parami(cfg, 5, (size_t)(height + 2 * radius));
    binopt_cfg_set_parami(cfg, 7, (size_t)width);
    binopt_cfg_set_parami(cfg, 8, (size_t)height);
    binopt_cfg_set(cfg, BINOPT_F_FASTMATH, 1);
}
