/* sparse.c: products of a sparse matrix with vectors, where the structure of the matrix (which entries are not 0) is fixed and
 * its values are not: the element matrices of a simulation, for example. The general code finds its way by index lists; with
 * these known there is only arithmetic. */
#include "study.h"

enum { MAX_ROWS = 64, MAX_ENTRIES = 1024, VECTORS = 2000 };

typedef struct Structure {
    int rows;
    int first[MAX_ROWS + 1]; /* of each row, in `column` and in the values */
    int column[MAX_ENTRIES];
} Structure;

static float values[MAX_ENTRIES], x[VECTORS][MAX_ROWS], y[VECTORS][MAX_ROWS];

__attribute__((noinline)) static void multiply(const Structure *s, const float *value, const float *in, float *out) {
    for (int r = 0; r < s->rows; r++) {
        float sum = 0;
        for (int i = s->first[r]; i < s->first[r + 1]; i++)
            sum += value[i] * in[s->column[i]];
        out[r] = sum;
    }
}

static void configure(BinoptCfgRef cfg, void *user) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR_NOALIAS);
    binopt_cfg_set_paramp(cfg, 0, user, sizeof(Structure), BINOPT_MEM_CONST);
    binopt_cfg_set(cfg, BINOPT_F_FASTMATH, 1);
}

static void run(BinoptFunc kernel, void *user) {
    for (int i = 0; i < VECTORS; i++)
        ((__typeof__(&multiply))kernel)(user, values, x[i], y[i]);
}

/* A band along the diagonal, and some entries elsewhere. */
static void build(Structure *s, int rows, int band) {
    int count = 0;
    s->rows = rows;
    for (int r = 0; r < rows; r++) {
        s->first[r] = count;
        for (int c = 0; c < rows; c++)
            if (abs(r - c) <= band || (r * 7 + c * 13) % 29 == 0)
                s->column[count++] = c;
    }
    s->first[rows] = count;
}

int main(int argc, char **argv) {
    static const int sizes[][2] = {{8, 1}, {12, 2}, {24, 1}, {32, 2}, {48, 3}, {64, 2}};
    bool bench, right = true;
    BinoptHandle handle = study_begin(argc, argv, "product", &bench);
    for (int i = 0; i < VECTORS * MAX_ROWS; i++)
        x[i / MAX_ROWS][i % MAX_ROWS] = (float)(i % 23) * 0.5f;
    for (int i = 0; i < MAX_ENTRIES; i++)
        values[i] = (float)(i % 7) - 2;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        static Structure s;
        char name[64];
        build(&s, sizes[i][0], sizes[i][1]);
        snprintf(name, sizeof(name), "%d rows, %d entries", s.rows, s.first[s.rows]);
        Study study = {.name = name,
                       .kernel = (BinoptFunc)multiply,
                       .configure = configure,
                       .run = run,
                       .result = y,
                       .result_bytes = sizeof(y),
                       .units = VECTORS,
                       .user = &s};
        right &= study_run(&study, handle, bench);
    }
    binopt_fini(handle);
    return !right;
}
