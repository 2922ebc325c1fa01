/* pipeline.c: see pipeline.h. */
#include "codegen/pipeline.h"

#include "base/base.h"

/* instcombine without this option ends the process when one round does not reach a fixpoint, which is no error. */
#define INSTCOMBINE "instcombine<no-verify-fixpoint>"

/* Ordered by what lifted code is made of: registers and flags that are dead or copied (sroa, early-cse), address and
 * flag arithmetic (instcombine), state stored and reloaded around calls (gvn, dse). */
#define QUICK_SCALAR "sroa,early-cse<memssa>," INSTCOMBINE ",simplifycfg,gvn,dse"

/* What loops need before code generation: without rotation and hoisting, guest loops ran up to 1.5 times as long. */
#define QUICK_LOOPS "loop-simplify,lcssa,loop-mssa(loop-rotate,licm)"

/* Hoisting and dse leave dead arithmetic and empty blocks; code generation pays for each instruction that is left. */
#define QUICK_CLEANUP INSTCOMBINE ",simplifycfg,dce"

#define UNROLL "loop-simplify,lcssa,loop-mssa(loop-rotate),loop(indvars,loop-unroll-full)"

static const Pipeline pipelines[] = {
    [LATHE_OPT_NONE] = {NULL},
    [LATHE_OPT_QUICK] = {"always-inline,function(" QUICK_SCALAR "," QUICK_LOOPS "," QUICK_CLEANUP ")"},
    [LATHE_OPT_FULL] = {"default<O2>"},
    [LATHE_OPT_MAX] = {"default<O3>", .vectorize = true, .pack = true, .unroll = true},
    [OPT_SCALAR] = {"always-inline,function(" QUICK_SCALAR ",adce)"},
    [OPT_UNROLL] = {"function(" UNROLL ")", .unroll = true},
    [OPT_VECTOR] = {"default<O3>", .vectorize = true, .pack = true},
    [OPT_INLINE] = {"always-inline"},
    [OPT_SIZE] = {"default<Os>"},
    [OPT_LOOPS] = {"default<O2>", .vectorize = true, .rounds = true},
    [OPT_COPIES] = {"default<O2>", .unroll = true},
};

const Pipeline *pipeline_of(LatheOpt level) {
    return (size_t)level < ARRAY_LEN(pipelines) ? &pipelines[level] : NULL;
}
