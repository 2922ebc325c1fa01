/* bilateral.c: a bilateral filter, as GEGL's operation of that name does it: each pixel becomes the mean of those around it,
 * weighted by distance and by how similar their colours are, so that edges stay. Radius, weights and the image's size are
 * known when the user has set them. */
#include "study.h"

enum { WIDTH = 256, HEIGHT = 16, MAX_RADIUS = 12, CHANNELS = 4, SIDE = 2 * MAX_RADIUS + 1 };

typedef struct Bilateral {
    int radius, width, height;
    float preserve; /* how much differences of colour count */
    float weight[SIDE * SIDE];
} Bilateral;

static float image[WIDTH * HEIGHT * CHANNELS], filtered[WIDTH * HEIGHT * CHANNELS];

/* exp of a number that is not positive: 1 + x / 256, squared eight times. */
static inline float exp_of_negative(float x) {
    float y = 1 + x * (1.0f / 256);
    y = y < 0 ? 0 : y;
    for (int i = 0; i < 8; i++)
        y *= y;
    return y;
}

__attribute__((noinline)) static void filter(const float *weight, int radius, float preserve, const float *in,
                                             float *out, int width, int height) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const float *center = in + (y * width + x) * CHANNELS;
            float sum[CHANNELS] = {0}, total = 0;
            for (int v = -radius; v <= radius; v++)
                for (int u = -radius; u <= radius; u++) {
                    int i = x + u < 0 ? 0 : x + u >= width ? width - 1 : x + u;
                    int j = y + v < 0 ? 0 : y + v >= height ? height - 1 : y + v;
                    const float *p = in + (j * width + i) * CHANNELS;
                    float difference = 0;
                    for (int c = 0; c < 3; c++)
                        difference += (center[c] - p[c]) * (center[c] - p[c]);
                    float w =
                        exp_of_negative(-difference * preserve) * weight[(v + radius) * (2 * radius + 1) + u + radius];
                    for (int c = 0; c < CHANNELS; c++)
                        sum[c] += p[c] * w;
                    total += w;
                }
            for (int c = 0; c < CHANNELS; c++)
                out[(y * width + x) * CHANNELS + c] = sum[c] / total;
        }
}

static void configure(BinoptCfgRef cfg, void *user) {
    const Bilateral *b = user;
    binopt_cfg_type(cfg, 7, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_FLOAT, BINOPT_TY_PTR,
                    BINOPT_TY_PTR_NOALIAS, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, b->weight, sizeof(b->weight), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, (size_t)b->radius);
    binopt_cfg_set_param(cfg, 2, &b->preserve);
    binopt_cfg_set_parami(cfg, 5, (size_t)b->width);
    binopt_cfg_set_parami(cfg, 6, (size_t)b->height);
    binopt_cfg_set(cfg, BINOPT_F_FASTMATH, 1);
}

static void run(BinoptFunc kernel, void *user) {
    const Bilateral *b = user;
    ((__typeof__(&filter))kernel)(b->weight, b->radius, b->preserve, image, filtered, b->width, b->height);
}

static void set_weights(Bilateral *b) {
    int side = 2 * b->radius + 1;
    for (int i = 0; i < side * side; i++) {
        float x = (float)(i % side - b->radius), y = (float)(i / side - b->radius);
        b->weight[i] = expf(-0.5f * (x * x + y * y) / (float)b->radius);
    }
}

int main(int argc, char **argv) {
    bool bench, right = true;
    BinoptHandle handle = study_begin(argc, argv, "pixel", &bench);
    for (size_t i = 0; i < sizeof(image) / sizeof(*image); i++)
        image[i] = (float)(i * 2654435761u >> 20 & 255) / 255;
    for (int radius = 1; radius <= MAX_RADIUS; radius += radius < 4 || !bench ? 1 + !bench * 2 : 2) {
        Bilateral b = {.radius = radius, .width = WIDTH, .height = HEIGHT, .preserve = 8};
        char name[64];
        set_weights(&b);
        snprintf(name, sizeof(name), "radius %d", radius);
        Study s = {.name = name,
                   .kernel = (BinoptFunc)filter,
                   .configure = configure,
                   .run = run,
                   .result = filtered,
                   .result_bytes = sizeof(filtered),
                   .units = WIDTH * HEIGHT,
                   .user = &b};
        right &= study_run(&s, handle, bench);
    }
    binopt_fini(handle);
    return !right;
}
