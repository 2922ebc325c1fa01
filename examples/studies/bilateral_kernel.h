/* bilateral_kernel.h: a bilateral filter, as GEGL's operation of that name does it: each pixel becomes the mean of those around
 * it, weighted by distance and by how similar their colours are, so that edges stay. The study and the GEGL operation around
 * it are bilateral.c and gegl/bilateral_op.c; bilateral_fixed.c is what compilers make of it with the settings in the source. */
#ifndef EXAMPLES_BILATERAL_KERNEL_H
#define EXAMPLES_BILATERAL_KERNEL_H

#include <binopt.h>
#include <string.h>

enum { BILATERAL_CHANNELS = 4 };

typedef void BilateralFilter(const float *weight, int radius, float preserve, const float *in, int in_width,
                             int in_height, float *out, int width, int height);

/* The operation's main part: `in` is an image with a border of `radius` pixels, `preserve` says how much differences of
 * colour count. */
BilateralFilter bilateral_filter;

/* The weights by distance, (2 * radius + 1)² of them. */
int bilateral_weight_count(int radius);
void bilateral_weights(float *weight, int radius);

/* Radius, weights and the image's size are known before the first pixel. The weights have to stay as they are. */
void bilateral_configure(BinoptCfgRef cfg, const float *weight, int radius, int width, int height);

/* exp of a number that is not positive, to seven digits: a power of two from the exponent's bits, and a polynomial for the
 * fraction that is left, between -1 and 0. A call of expf would stay a call. */
static inline float bilateral_exp(float x) {
    float y = x * 1.44269504f;
    y = y < -126 ? -126 : y;
    int whole = (int)y;
    float f = y - (float)whole, power;
    int bits = (whole + 127) << 23;
    memcpy(&power, &bits, sizeof(power));
    float tail = 0.0552981197f + f * (0.00920918036f + f * 0.000946877029f);
    return power * (0.999999944f + f * (0.693143135f + f * (0.240178956f + f * tail)));
}

/* What bilateral_filter does, for those who know its arguments at compile time. */
static inline void bilateral_apply(const float *weight, int radius, float preserve, const float *in, int in_width,
                                   int in_height, float *out, int width, int height) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const float *center = in + ((y + radius) * in_width + x + radius) * BILATERAL_CHANNELS;
            float sum[BILATERAL_CHANNELS] = {0}, total = 0;
            for (int v = -radius; v <= radius; v++)
                for (int u = -radius; u <= radius; u++) {
                    int i = x + radius + u, j = y + radius + v;
                    if (i < 0 || i >= in_width || j < 0 || j >= in_height)
                        continue;
                    const float *p = in + (j * in_width + i) * BILATERAL_CHANNELS;
                    float difference = 0;
                    for (int c = 0; c < 3; c++)
                        difference += (center[c] - p[c]) * (center[c] - p[c]);
                    float w =
                        bilateral_exp(-difference * preserve) * weight[(v + radius) * (2 * radius + 1) + u + radius];
                    for (int c = 0; c < BILATERAL_CHANNELS; c++)
                        sum[c] += p[c] * w;
                    total += w;
                }
            for (int c = 0; c < BILATERAL_CHANNELS; c++)
                out[(y * width + x) * BILATERAL_CHANNELS + c] = sum[c] / total;
        }
}

#endif
