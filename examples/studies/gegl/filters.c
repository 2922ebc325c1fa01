/* filters.c: a Gaussian blur and a bilateral filter as operations of GEGL (operations.h), each as it was compiled and with its
 * kernel made for the settings, on an image that GEGL has drawn. Their results are compared with each other and with those of
 * GEGL's own operations; with --bench it is measured what a pixel takes, and from what size of an image on making the kernel has paid. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "operations.h"
#include "optimizer.h"

/* Colours are between 0 and 1: 8 bits have steps of 4e-3, 16 bits of 1.5e-5. */
#define TOLERANCE 5e-6f

#define MEASURE_SECONDS 0.6
/* Less than that, and it was found: the kernel does not depend on the orientation. */
#define MADE_BEFORE_SECONDS 0.001

enum { MIN_ROUNDS = 3, MAX_ROUNDS = 15, CHANNELS = 4 };

/* Which one of an operation is meant. */
typedef enum Maker { GENERIC, SPECIALIZED, GEGL_OWN, MAKER_COUNT } Maker;

/* An operation with its settings. */
typedef struct Filter {
    char name[64];
    bool bilateral;
    double amount; /* deviation or radius */
    GeglOrientation orientation;
    double preserve;
    const Babl *format; /* of the result */
    int channels;
} Filter;

typedef struct Bench {
    Optimizer optimizer;
    GeglRectangle area;
    GeglBuffer *image;
    float *result[MAKER_COUNT];
    double seconds[MAKER_COUNT];
} Bench;

/* Of CPU time: the machine may have other things to do, and there is one thread only. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* -------------------------------------------------------------------------------------------------------------- images */

/* Models of that many channels; in " float" they are formats. */
static const char *const model[CHANNELS + 1] = {NULL, "Y", "YA", "RGB", "RGBA"};

/* A checkerboard with noise in all channels, cropped. */
static GeglBuffer *draw(const GeglRectangle *area, int channels) {
    char format[16];
    snprintf(format, sizeof(format), "%s float", model[channels]);
    GeglNode *graph = gegl_node_new();
    GeglNode *board = gegl_node_new_child(graph, "operation", "gegl:checkerboard", "x", 13, "y", 11, NULL);
    GeglNode *noise = gegl_node_new_child(graph, "operation", "gegl:noise-rgb", "alpha", 0.2, NULL);
    GeglNode *crop = gegl_node_new_child(graph, "operation", "gegl:crop", "width", (double)area->width, "height",
                                         (double)area->height, NULL);
    GeglBuffer *image = gegl_buffer_new(area, babl_format(format));
    gegl_node_link_many(board, noise, crop, NULL);
    gegl_node_blit_buffer(crop, image, area, 0, GEGL_ABYSS_NONE);
    g_object_unref(graph);
    return image;
}

static void bench_begin(Bench *b, int width, int height, int channels) {
    b->area = (GeglRectangle){0, 0, width, height};
    b->image = draw(&b->area, channels);
    for (Maker m = 0; m < MAKER_COUNT; m++)
        b->result[m] = g_new0(float, width *height *CHANNELS);
}

static void bench_end(Bench *b) {
    g_object_unref(b->image);
    for (Maker m = 0; m < MAKER_COUNT; m++)
        g_free(b->result[m]);
}

/* ------------------------------------------------------------------------------------------------------------- filters */

static Filter blur_filter(double deviation, int channels, GeglOrientation orientation) {
    Filter f = {.amount = deviation, .orientation = orientation, .channels = channels, .format = blur_format(channels)};
    snprintf(f.name, sizeof(f.name), "blur %g, %s%s", deviation, model[channels],
             orientation == GEGL_ORIENTATION_HORIZONTAL ? "" : " vertical");
    return f;
}

static Filter bilateral_filter_of(int radius, double preserve) {
    Filter f = {.bilateral = true, .amount = radius, .preserve = preserve, .channels = 4};
    f.format = babl_format("RGBA float");
    snprintf(f.name, sizeof(f.name), "bilateral %d, %g", radius, preserve);
    return f;
}

static GeglNode *node_of(Bench *b, GeglNode *graph, const Filter *f, Maker maker) {
    if (maker == GEGL_OWN && f->bilateral)
        return gegl_node_new_child(graph, "operation", "gegl:bilateral-filter", "blur-radius", f->amount,
                                   "edge-preservation", f->preserve, NULL);
    if (maker == GEGL_OWN)
        return gegl_node_new_child(graph, "operation", "gegl:gblur-1d", "std-dev", f->amount, "orientation",
                                   f->orientation, "filter", 1, NULL);
    Optimizer *optimizer = maker == SPECIALIZED ? &b->optimizer : NULL;
    if (f->bilateral)
        return gegl_node_new_child(graph, "operation", "example:bilateral", "blur-radius", (int)f->amount,
                                   "edge-preservation", f->preserve, "optimizer", optimizer, NULL);
    return gegl_node_new_child(graph, "operation", "example:blur-1d", "std-dev", f->amount, "orientation",
                               f->orientation, "optimizer", optimizer, NULL);
}

/* A filter by one of its makers, ready to run. */
typedef struct Job {
    GeglNode *graph, *node;
    const Filter *filter;
    Maker maker;
} Job;

static Job job_begin(Bench *b, const Filter *f, Maker maker) {
    Job j = {.graph = gegl_node_new(), .filter = f, .maker = maker};
    GeglNode *source = gegl_node_new_child(j.graph, "operation", "gegl:buffer-source", "buffer", b->image, NULL);
    j.node = node_of(b, j.graph, f, maker);
    gegl_node_link(source, j.node);
    return j;
}

/* On the whole image; the time it took. */
static double job_run(Bench *b, const Job *j) {
    double start = now();
    gegl_node_blit(j->node, 1, &b->area, j->filter->format, b->result[j->maker], GEGL_AUTO_ROWSTRIDE,
                   GEGL_BLIT_DEFAULT);
    return now() - start;
}

static void job_end(Job *j) {
    g_object_unref(j->graph);
}

static double run_once(Bench *b, const Filter *f, Maker maker) {
    Job j = job_begin(b, f, maker);
    double took = job_run(b, &j);
    job_end(&j);
    return took;
}

/* ----------------------------------------------------------------------------------------------------------- comparing */

static float difference(const Bench *b, const Filter *f, Maker other) {
    float most = 0;
    for (int i = 0; i < b->area.width * b->area.height * f->channels; i++) {
        float d = fabsf(b->result[SPECIALIZED][i] - b->result[other][i]);
        most = d <= most ? most : d;
    }
    return most;
}

/* Three times the same; false if they are not. */
static bool check(Bench *b, const Filter *f) {
    for (Maker m = 0; m < MAKER_COUNT; m++)
        run_once(b, f, m);
    float generic = difference(b, f, GENERIC), gegl = difference(b, f, GEGL_OWN);
    bool made = !b->optimizer.left_alone, equal = generic <= TOLERANCE && gegl <= TOLERANCE;
    printf("%-24s from the generic kernel %.1e, from GEGL %.1e%s%s\n", f->name, (double)generic, (double)gegl,
           made ? "" : ": left alone", equal ? "" : ": too much");
    return equal && made;
}

static bool check_all(Bench *b) {
    static const double deviations[] = {0.5, 1, 1.7, 3, 8};
    bool right = true;
    for (int channels = 1; channels <= CHANNELS; channels++) {
        bench_begin(b, 71, 37, channels);
        for (size_t i = 0; i < G_N_ELEMENTS(deviations); i++)
            for (GeglOrientation o = GEGL_ORIENTATION_HORIZONTAL; o <= GEGL_ORIENTATION_VERTICAL; o++) {
                Filter f = blur_filter(deviations[i], channels, o);
                right &= check(b, &f);
            }
        bench_end(b);
    }
    bench_begin(b, 61, 33, CHANNELS);
    for (int radius = 1; radius <= 9; radius += 1 + radius / 4)
        for (double preserve = 8; preserve >= 0; preserve -= 7) {
            Filter f = bilateral_filter_of(radius, preserve);
            right &= check(b, &f);
        }
    bench_end(b);
    return right;
}

/* ----------------------------------------------------------------------------------------------------------- measuring */

static void report(const Bench *b, const Filter *f) {
    double pixels = (double)b->area.width * b->area.height, generic = b->seconds[GENERIC] / pixels;
    double special = b->seconds[SPECIALIZED] / pixels, rewriting = b->optimizer.seconds;
    printf("%-24s %9.2f %9.2f %9.2f   %5.1f%% less %8.2f ms", f->name, b->seconds[GEGL_OWN] / pixels * 1e9,
           generic * 1e9, special * 1e9, 100 * (1 - special / generic), rewriting * 1e3);
    if (b->optimizer.left_alone)
        printf("   left alone\n");
    else if (rewriting < MADE_BEFORE_SECONDS)
        printf("   made before\n");
    else if (special < generic)
        printf("   %6.0f\n", sqrt(rewriting / (generic - special)));
    else
        printf("    never\n");
}

/* In turns. GEGL's own is there for comparison only, and made anew each time:
 * it keeps results. */
static void measure(Bench *b, const Filter *f) {
    Job generic = job_begin(b, f, GENERIC), special = job_begin(b, f, SPECIALIZED);
    job_run(b, &special);
    double rewriting = b->optimizer.seconds, end = now() + MEASURE_SECONDS;
    for (Maker m = 0; m < MAKER_COUNT; m++)
        b->seconds[m] = 1e9;
    for (int i = 0; i < MIN_ROUNDS || (i < MAX_ROUNDS && now() < end); i++) {
        b->seconds[GENERIC] = MIN(b->seconds[GENERIC], job_run(b, &generic));
        b->seconds[SPECIALIZED] = MIN(b->seconds[SPECIALIZED], job_run(b, &special));
    }
    for (int i = 0; i < 2; i++)
        b->seconds[GEGL_OWN] = MIN(b->seconds[GEGL_OWN], run_once(b, f, GEGL_OWN));
    b->optimizer.seconds = rewriting;
    job_end(&generic);
    job_end(&special);
    report(b, f);
}

static void measure_all(Bench *b) {
    static const double deviations[] = {1, 2, 3, 5, 8, 10, 15};
    printf("by %s: ns for a pixel, time for making the kernel, and the side of a square image for which it has paid\n"
           "%-24s %9s %9s %9s\n",
           binopt_driver(), "", "GEGL", "generic", "special");
    for (int channels = 1; channels <= CHANNELS; channels++) {
        bench_begin(b, 1500, 400, channels);
        for (size_t i = 0; i < G_N_ELEMENTS(deviations); i++) {
            Filter f = blur_filter(deviations[i], channels, GEGL_ORIENTATION_HORIZONTAL);
            measure(b, &f);
        }
        bench_end(b);
    }
    bench_begin(b, 400, 400, CHANNELS);
    for (size_t i = 0; i < G_N_ELEMENTS(deviations); i++) {
        Filter f = blur_filter(deviations[i], CHANNELS, GEGL_ORIENTATION_VERTICAL);
        measure(b, &f);
    }
    bench_end(b);
    bench_begin(b, 256, 96, CHANNELS);
    for (int radius = 1; radius <= 16; radius++) {
        Filter f = bilateral_filter_of(radius, 8);
        measure(b, &f);
    }
    bench_end(b);
}

int main(int argc, char **argv) {
    bool bench = argc > 1 && !strcmp(argv[1], "--bench"), right = true;
    gegl_init(NULL, NULL);
    /* One thread: the kernels are compared, and GEGL would split the area. */
    g_object_set(gegl_config(), "threads", 1, "use-opencl", FALSE, "swap", "RAM", NULL);
    g_type_class_unref(g_type_class_ref(blur_op_get_type()));
    g_type_class_unref(g_type_class_ref(bilateral_op_get_type()));
    Bench b = {.optimizer.handle = binopt_init()};
    if (bench)
        measure_all(&b);
    else
        right = check_all(&b);
    binopt_fini(b.optimizer.handle);
    gegl_exit();
    return !right;
}
