/* bilateral.c: a bilateral filter on an image in memory. Radius, weights and the image's size are known when the user has set
 * them; compilers that know them, too, are what it is compared with. */
#include "bilateral_kernel.h"
#include "study.h"

enum { MAX_RADIUS = 16, IN_PIXELS = (WIDTH + 2 * MAX_RADIUS) * (HEIGHT + 2 * MAX_RADIUS) };

typedef struct Bilateral {
    int radius;
    float weight[(2 * MAX_RADIUS + 1) * (2 * MAX_RADIUS + 1)];
} Bilateral;

/* What gcc and clang make of it with the radius in the source: bilateral_fixed.c. */
#define FIXED_RADII(F) F(1) F(2) F(4) F(8) F(12) F(16)
#define DECLARE(radius) extern BilateralFilter bilateral_gcc_##radius, bilateral_clang_##radius;
#define ROW(radius) [radius] = {{"gcc", bilateral_gcc_##radius}, {"clang", bilateral_clang_##radius}},
#ifdef FIXED
FIXED_RADII(DECLARE)
static const StudyRival fixed[MAX_RADIUS + 1][STUDY_RIVALS] = {FIXED_RADII(ROW)};
#else
static const StudyRival fixed[MAX_RADIUS + 1][STUDY_RIVALS];
#endif

static float image[IN_PIXELS * BILATERAL_CHANNELS], filtered[WIDTH * HEIGHT * BILATERAL_CHANNELS];

static void configure(BinoptCfgRef cfg, void *user) {
    const Bilateral *b = user;
    bilateral_configure(cfg, b->weight, b->radius, WIDTH, HEIGHT);
}

static void run(BinoptFunc kernel, void *user) {
    const Bilateral *b = user;
    ((BilateralFilter *)kernel)(b->weight, b->radius, 8, image, WIDTH + 2 * b->radius, HEIGHT + 2 * b->radius, filtered,
                                WIDTH, HEIGHT);
}

int main(int argc, char **argv) {
    bool bench, right = true;
    BinoptHandle handle = study_begin(argc, argv, "pixel", &bench);
    for (size_t i = 0; i < sizeof(image) / sizeof(*image); i++)
        image[i] = (float)(i * 2654435761u >> 20 & 255) / 255;
    for (int radius = 1; radius <= MAX_RADIUS; radius += radius < 4 ? 1 : bench ? 2 : 4) {
        Bilateral b = {.radius = radius};
        char name[64];
        bilateral_weights(b.weight, radius);
        snprintf(name, sizeof(name), "radius %d", radius);
        Study s = {.name = name,
                   .kernel = (BinoptFunc)bilateral_filter,
                   .configure = configure,
                   .run = run,
                   .rivals = fixed[radius],
                   .result = filtered,
                   .result_bytes = sizeof(filtered),
                   .units = WIDTH * HEIGHT,
                   .user = &b};
        right &= study_run(&s, handle, bench);
    }
    binopt_fini(handle);
    return !right;
}
