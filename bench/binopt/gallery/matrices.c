/* matrices.c: matrices and filters with known sizes or coefficients. */
#include "gallery.h"

enum { SIDE = 24 };
static double a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE];

static void fill(void) {
    if (a[1] != 0)
        return;
    for (int i = 0; i < SIDE * SIDE; i++)
        a[i] = (i * 7 % 13) * 0.5, b[i] = (i * 5 % 11) - 4.5;
}
static uint64_t digest_of(const double *v, int n) {
    uint64_t d = 0;
    for (int i = 0; i < n; i += 7)
        d = mix_double(d, v[i]);
    return d;
}

KERNEL void multiply(double *to, const double *x, const double *y, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += x[i * n + k] * y[k * n + j];
            to[i * n + j] = sum;
        }
}
static void fix_multiply(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 3, 12);
}
static uint64_t run_multiply(void *k) {
    fill();
    ((void (*)(double *, const double *, const double *, int))k)(c, a, b, 12);
    return digest_of(c, 144);
}

static double fixed[64];
KERNEL void times_vector(double *to, const double *m, const double *v, int rows, int columns) {
    for (int i = 0; i < rows; i++) {
        to[i] = 0;
        for (int j = 0; j < columns; j++)
            to[i] += m[i * columns + j] * v[j];
    }
}
static void fix_times_vector(BinoptCfgRef cfg) {
    for (int i = 0; i < 64; i++)
        fixed[i] = i % 9 == 0 ? 2 : i % 5 ? 0 : 1.5;
    binopt_cfg_type(cfg, 5, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32,
                    BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 1, fixed, sizeof(fixed), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 3, 8);
    binopt_cfg_set_parami(cfg, 4, 8);
}
static uint64_t run_times_vector(void *k) {
    uint64_t d = 0;
    fill();
    for (int i = 0; i < 20; i++) {
        ((void (*)(double *, const double *, const double *, int, int))k)(c, fixed, a + i, 8, 8);
        d = mix(d, digest_of(c, 8));
    }
    return d;
}

typedef struct Sparse {
    int rows, start[17], column[64];
    double value[64];
} Sparse;
static Sparse sparse;
KERNEL void sparse_times(const Sparse *s, const double *v, double *to) {
    for (int i = 0; i < s->rows; i++) {
        double sum = 0;
        for (int k = s->start[i]; k < s->start[i + 1]; k++)
            sum += s->value[k] * v[s->column[k]];
        to[i] = sum;
    }
}
static void fix_sparse(BinoptCfgRef cfg) {
    sparse.rows = 16;
    for (int i = 0, k = 0; i < 16; i++) {
        for (int j = 0; j < 16; j++)
            if ((i * 5 + j * 3) % 7 == 0 && k < 64)
                sparse.column[k] = j, sparse.value[k++] = i - j * 0.5;
        sparse.start[i + 1] = k;
    }
    binopt_cfg_type(cfg, 3, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, &sparse, sizeof(sparse), BINOPT_MEM_CONST);
}
static uint64_t run_sparse(void *k) {
    uint64_t d = 0;
    fill();
    for (int i = 0; i < 10; i++) {
        ((void (*)(const Sparse *, const double *, double *))k)(&sparse, a + i, c);
        d = mix(d, digest_of(c, 16));
    }
    return d;
}

static double taps[5] = {0.1, 0.2, 0.4, 0.2, 0.1};
KERNEL void convolve(double *to, const double *from, int n, const double *tap, int count) {
    for (int i = 0; i + count <= n; i++) {
        double sum = 0;
        for (int k = 0; k < count; k++)
            sum += from[i + k] * tap[k];
        to[i] = sum;
    }
}
static void fix_convolve(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 5, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR,
                    BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 3, taps, sizeof(taps), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 4, 5);
}
static uint64_t run_convolve(void *k) {
    fill();
    ((void (*)(double *, const double *, int, const double *, int))k)(c, a, 300, taps, 5);
    return digest_of(c, 290);
}

static int edge[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
static uint8_t picture[32 * 32], filtered[32 * 32];
KERNEL void filter(uint8_t *to, const uint8_t *from, int width, int height, const int *k) {
    for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
            int sum = 0;
            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++)
                    sum += k[j * 3 + i] * from[(y + j - 1) * width + x + i - 1];
            to[y * width + x] = (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
        }
}
static void fix_filter(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 5, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32,
                    BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 4, edge, sizeof(edge), BINOPT_MEM_CONST);
}
static uint64_t run_filter(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 32 * 32 && !picture[1023]; i++)
        picture[i] = (uint8_t)(i * i >> 3);
    ((void (*)(uint8_t *, const uint8_t *, int, int, const int *))k)(filtered, picture, 32, 32, edge);
    for (int i = 0; i < 32 * 32; i += 51)
        d = mix(d, filtered[i]);
    return d;
}

KERNEL double dot(const double *x, const double *y, int n, int stride) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i * stride] * y[i * stride];
    return sum;
}
static void fix_dot(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_DOUBLE, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 3, 3);
}
static uint64_t run_dot(void *k) {
    fill();
    return mix_double(0, ((double (*)(const double *, const double *, int, int))k)(a, b, 190, 3));
}

static float rotation[16] = {0.8f, 0.6f, 0, 1, -0.6f, 0.8f, 0, 2, 0, 0, 1, 3, 0, 0, 0, 1};
static float points[4 * 64];
KERNEL void transform(const float *m, float *v, int n) {
    for (int i = 0; i < n; i++) {
        float r[4];
        for (int j = 0; j < 4; j++)
            r[j] = m[4 * j] * v[4 * i] + m[4 * j + 1] * v[4 * i + 1] + m[4 * j + 2] * v[4 * i + 2] +
                   m[4 * j + 3] * v[4 * i + 3];
        for (int j = 0; j < 4; j++)
            v[4 * i + j] = r[j];
    }
}
static void fix_transform(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, rotation, sizeof(rotation), BINOPT_MEM_CONST);
}
static uint64_t run_transform(void *k) {
    for (int i = 0; i < 256; i++)
        points[i] = (float)(i % 17);
    ((void (*)(const float *, float *, int))k)(rotation, points, 64);
    return mix_double(mix_double(0, points[5]), points[201]);
}

KERNEL void transpose(double *to, const double *from, int rows, int columns) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            to[j * rows + i] = from[i * columns + j];
}
static void fix_transpose(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 2, 16);
    binopt_cfg_set_parami(cfg, 3, 12);
}
static uint64_t run_transpose(void *k) {
    fill();
    ((void (*)(double *, const double *, int, int))k)(c, a, 16, 12);
    return digest_of(c, 192);
}

/* Rows of weights around a loop over inputs, as small networks have it. */
typedef struct Layer {
    int in, out;
    float weight[8][8], bias[8];
} Layer;
static Layer layer = {.in = 6, .out = 5};
KERNEL void perceptrons(const Layer *l, const float *in, float *out) {
    for (int o = 0; o < l->out; o++) {
        float sum = l->bias[o];
        for (int i = 0; i < l->in; i++)
            sum += l->weight[o][i] * in[i];
        out[o] = sum > 0 ? sum : 0;
    }
}
static void fix_perceptrons(BinoptCfgRef cfg) {
    for (int i = 0; i < 64; i++)
        layer.weight[i / 8][i % 8] = (float)(i * 11 % 7) - 3, layer.bias[i % 8] = (float)i * 0.1f;
    binopt_cfg_type(cfg, 3, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 0, &layer, sizeof(layer), BINOPT_MEM_CONST);
}
static uint64_t run_perceptrons(void *k) {
    float in[36], out[8];
    uint64_t d = 0;
    for (int i = 0; i < 36; i++)
        in[i] = (float)i * 0.25f;
    for (int i = 0; i < 30; i++) {
        ((void (*)(const Layer *, const float *, float *))k)(&layer, in + i, out);
        d = mix_double(mix_double(d, out[0]), out[4]);
    }
    return d;
}

const Kernel matrices[] = {
    {"matrix product", multiply, fix_multiply, run_multiply},
    {"known matrix by vector", times_vector, fix_times_vector, run_times_vector},
    {"sparse matrix", sparse_times, fix_sparse, run_sparse},
    {"convolution", convolve, fix_convolve, run_convolve},
    {"image filter", filter, fix_filter, run_filter},
    {"dot product, stride", dot, fix_dot, run_dot},
    {"rotation", transform, fix_transform, run_transform},
    {"transposition", transpose, fix_transpose, run_transpose},
    {"perceptrons", perceptrons, fix_perceptrons, run_perceptrons},
    {0},
};
