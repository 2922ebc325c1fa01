/* blur_kernel.c: see blur_kernel.h. */
#include "blur_kernel.h"

#include <math.h>

void blur_line(const float *weight, int size, int channels, const float *in, float *out, int width) {
    for (int x = 0; x < width; x++)
        for (int c = 0; c < channels; c++) {
            float sum = 0;
            for (int k = 0; k < size; k++)
                sum += in[(x + k) * channels + c] * weight[k];
            out[x * channels + c] = sum;
        }
}

int blur_size(double deviation) {
    return (int)ceil(6.5 * deviation) | 1;
}

void blur_weights(float *weight, double deviation) {
    int size = blur_size(deviation);
    double sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < size; k++) {
            double x = k - size / 2, bell = exp(-x * x / (2 * deviation * deviation));
            if (pass == 0)
                sum += bell;
            else
                weight[k] = (float)(bell / sum);
        }
}

void blur_configure(BinoptCfgRef cfg, const float *weight, int size, int channels) {
    binopt_cfg_type(cfg, 6, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_PTR,
                    BINOPT_TY_PTR_NOALIAS, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, weight, (size_t)size * sizeof(*weight), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, (size_t)size);
    binopt_cfg_set_parami(cfg, 2, (size_t)channels);
    binopt_cfg_set(cfg, BINOPT_F_FASTMATH, 1);
}
