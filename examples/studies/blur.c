/* blur.c: a Gaussian blur along lines, as GEGL's operation gblur-1d does it: any width of the bell, one to four channels of
 * float. Width, weights and channels are settings of the user, and fixed for a whole image. */
#include "study.h"

enum { WIDTH = 1200, HEIGHT = 20, MAX_SIZE = 131, CHANNELS = 4 };

typedef struct Blur {
    int size, channels; /* size: of the bell, odd */
    float weight[MAX_SIZE];
} Blur;

static float line[(WIDTH + MAX_SIZE) * CHANNELS], image[WIDTH * HEIGHT * CHANNELS], blurred[WIDTH * HEIGHT * CHANNELS];

/* The operation's innermost part: one line, which has half the bell more at both ends. */
__attribute__((noinline)) static void blur_line(const float *weight, int size, int channels, const float *in,
                                                float *out, int width) {
    for (int x = 0; x < width; x++)
        for (int c = 0; c < channels; c++) {
            float sum = 0;
            for (int k = 0; k < size; k++)
                sum += in[(x + k) * channels + c] * weight[k];
            out[x * channels + c] = sum;
        }
}

static void configure(BinoptCfgRef cfg, void *user) {
    const Blur *b = user;
    binopt_cfg_type(cfg, 6, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_PTR,
                    BINOPT_TY_PTR_NOALIAS, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, b->weight, (size_t)b->size * sizeof(float), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 1, (size_t)b->size);
    binopt_cfg_set_parami(cfg, 2, (size_t)b->channels);
    binopt_cfg_set(cfg, BINOPT_F_FASTMATH, 1);
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
        ((__typeof__(&blur_line))kernel)(b->weight, b->size, b->channels, line, blurred + y * WIDTH * b->channels,
                                         WIDTH);
    }
}

/* As wide as GEGL has it: 6.5 standard deviations, rounded up to an odd number. */
static void set_weights(Blur *b, float deviation) {
    float sum = 0;
    b->size = (int)ceilf(6.5f * deviation) | 1;
    for (int k = 0; k < b->size; k++) {
        float x = (float)(k - b->size / 2);
        sum += b->weight[k] = expf(-x * x / (2 * deviation * deviation));
    }
    for (int k = 0; k < b->size; k++)
        b->weight[k] /= sum;
}

int main(int argc, char **argv) {
    static const float deviations[] = {1, 2, 3, 5, 8, 12, 20};
    bool bench, right = true;
    BinoptHandle handle = study_begin(argc, argv, "pixel", &bench);
    for (size_t i = 0; i < sizeof(image) / sizeof(*image); i++)
        image[i] = (float)(i * 2654435761u >> 20 & 255) / 255;
    for (int channels = 1; channels <= CHANNELS; channels++)
        for (size_t i = 0; i < sizeof(deviations) / sizeof(*deviations); i += bench ? 1 : 2) {
            Blur b = {.channels = channels};
            char name[64];
            set_weights(&b, deviations[i]);
            snprintf(name, sizeof(name), "deviation %g, %d channel%s", (double)deviations[i], channels,
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
