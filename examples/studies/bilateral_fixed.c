/* bilateral_fixed.c: the bilateral filter with radius, weights and the image's size in the source, as -D options say: what
 * COMPILER makes of what is known at compile time. WEIGHTS is a file that bilateral_table.c has printed. */
#include "bilateral_kernel.h"

static const float fixed_weight[] = {
#include WEIGHTS
};

#define PASTE(compiler, radius) bilateral_##compiler##_##radius
#define NAME(compiler, radius) PASTE(compiler, radius)

BilateralFilter NAME(COMPILER, RADIUS);
void NAME(COMPILER, RADIUS)(const float *weight, int radius, float preserve, const float *in, int in_width,
                            int in_height, float *restrict out, int width, int height) {
    (void)weight, (void)radius, (void)in_width, (void)in_height, (void)width, (void)height;
    bilateral_apply(fixed_weight, RADIUS, preserve, in, WIDTH + 2 * RADIUS, HEIGHT + 2 * RADIUS, out, WIDTH, HEIGHT);
}
