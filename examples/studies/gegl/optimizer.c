/* optimizer.c: see optimizer.h. */
#include "optimizer.h"

#include <time.h>

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

BinoptCfgRef optimizer_configure(Optimizer *o, BinoptFunc kernel) {
    BinoptCfgRef cfg = binopt_cfg_new(o->handle, kernel);
    binopt_cfg_set(cfg, BINOPT_F_NOWRAP, 1);
    return cfg;
}

BinoptFunc optimizer_make(Optimizer *o, BinoptCfgRef cfg, BinoptFunc kernel) {
    double start = cpu_seconds();
    BinoptFunc made = binopt_spec_create(cfg);
    o->seconds = cpu_seconds() - start;
    o->left_alone = made == kernel;
    binopt_cfg_free(cfg);
    return made;
}
