/* helpers_fma.c: fused multiplication and addition of a host that has no instruction for it: LLVM calls these. Their arguments are floating-point ones, so quick code cannot
 * call them. */
#include "isa/aarch64/helpers.h"
#include "isa/softfloat.h"

static u64 nearest_fma(const SoftFormat *f, u64 a, u64 b, u64 c) {
    SoftEnv e = {.rounding = SOFT_NEAREST_EVEN};
    return soft_fma(&e, f, a, b, c);
}

static double fma_double(double a, double b, double c) {
    u64 x, y, z;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    memcpy(&z, &c, 8);
    x = nearest_fma(&soft_f64, x, y, z);
    memcpy(&a, &x, 8);
    return a;
}

static float fma_single(float a, float b, float c) {
    u32 x, y, z;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    memcpy(&z, &c, 4);
    x = (u32)nearest_fma(&soft_f32, x, y, z);
    memcpy(&a, &x, 4);
    return a;
}

const Helper a64_fma_helpers[] = {
    {"fma", (void *)fma_double},
    {"fmaf", (void *)fma_single},
    {NULL, NULL},
};
