/* blur.c: a Gaussian blur of an image in memory, in lines. Width of the bell, weights and channels are settings of the user, and
 * fixed for a whole image. */
#include "blur_kernel.h"
#include "study.h"

enum { WIDTH = 1200, HEIGHT = 20, MAX_SIZE = 131, CHANNELS = 4 };

typedef struct Blur {
    int size, channels;
    float weight[MAX_SIZE];
} Blur;

static float line[(WIDTH + MAX_SIZE) * CHANNELS], image[WIDTH * HEIGHT * CHANNELS], blurred[WIDTH * HEIGHT * CHANNELS];

static void configure(BinoptCfgRef cfg, void *user) {
    const Blur *b = user;
    blur_configure(cfg, b->weight, b->size, b->channels);
}

/* Beyond the borders the outermost pixel goes on. */
static void fetch_line(const Blur *b, int y) {
    int before = b->size / 2;
    for (int x = 0; x < WIDTH + b->size - 1; x++) {
        int from = x < before ? 0 : x - before >= WIDTH ? WIDTH - 1 : x - before;
        for (int c = 0; c < b->channels; c++)
            line[x * b->channels + c] = image[(y * WIDTH + from) * b->channels + c];
    }
}

static void run(BinoptFunc kernel, void *user) {
    const Blur *b = user;
    for (int y = 0; y < HEIGHT; y++) {
        fetch_line(b, y);
        ((BlurLine *)kernel)(b->weight, b->size, b->channels, line, blurred + y * WIDTH * b->channels, WIDTH);
    }
}

int main(int argc, char **argv) {
    static const double deviations[] = {1, 2, 3, 5, 8, 10, 15};
    bool bench, right = true;
    BinoptHandle handle = study_begin(argc, argv, "pixel", &bench);
    for (size_t i = 0; i < sizeof(image) / sizeof(*image); i++)
        image[i] = (float)(i * 2654435761u >> 20 & 255) / 255;
    for (int channels = 1; channels <= CHANNELS; channels++)
        for (size_t i = 0; i < sizeof(deviations) / sizeof(*deviations); i += bench ? 1 : 2) {
            Blur b = {.channels = channels, .size = blur_size(deviations[i])};
            char name[64];
            blur_weights(b.weight, deviations[i]);
            snprintf(name, sizeof(name), "deviation %g, %d channel%s", deviations[i], channels,
                     channels > 1 ? "s" : "");
            Study s = {.name = name,
                       .kernel = (BinoptFunc)blur_line,
                       .configure = configure,
                       .run = run,
                       .result = blurred,
                       .result_bytes = sizeof(float) * WIDTH * HEIGHT * (size_t)channels,
                       .units = WIDTH * HEIGHT,
                       .user = &b};
            right &= study_run(&s, handle, bench);
        }
    binopt_fini(handle);
    return !right;
}
