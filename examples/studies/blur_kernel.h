/* blur_kernel.h: a Gaussian blur along lines, as GEGL's operation gblur-1d does it with filter "fir": any width of the bell, one
 * to four channels of float. The study and the GEGL operation around it are blur.c and gegl/blur_op.c. */
#ifndef EXAMPLES_BLUR_KERNEL_H
#define EXAMPLES_BLUR_KERNEL_H

#include <binopt.h>

typedef void BlurLine(const float *weight, int size, int channels, const float *in, float *out, int width);

/* The operation's innermost part: a line of `width` pixels; `in` has half the bell more at both ends. */
BlurLine blur_line;

/* How many pixels the bell covers: 6.5 standard deviations, rounded up to an odd number. */
int blur_size(double deviation);
/* The bell: blur_size weights, of sum 1. */
void blur_weights(float *weight, double deviation);

/* All but the line is known once the user has made the settings. The weights have to stay as they are. */
void blur_configure(BinoptCfgRef cfg, const float *weight, int size, int channels);

#endif
