/* optimizer.h: what our operations ask for faster versions of their kernels. Each has a property "optimizer": a pointer to one of
 * these, or NULL for the kernel as it was compiled. */
#ifndef EXAMPLES_GEGL_OPTIMIZER_H
#define EXAMPLES_GEGL_OPTIMIZER_H

#include <binopt.h>
#include <stdbool.h>

typedef struct Optimizer {
    BinoptHandle handle;
    double seconds;  /* of CPU time that the last kernel took to make; next to nothing if it was there before */
    bool left_alone; /* the last kernel came back as it was */
} Optimizer;

/* A configuration of the kernel, to be completed and given to optimizer_make. */
BinoptCfgRef optimizer_configure(Optimizer *o, BinoptFunc kernel);
/* Frees the configuration. The function is to be deleted by binopt_spec_delete. */
BinoptFunc optimizer_make(Optimizer *o, BinoptCfgRef cfg, BinoptFunc kernel);

#endif
