/* pool.c: see pool.h. */
#include "binopt/llvm/pool.h"

#include "binopt/process/idle.h"

static Idle compilers = {.lock = PTHREAD_MUTEX_INITIALIZER};

LatheJit *pool_take(void) {
    LatheJit *jit = idle_take(&compilers);
    return jit ? jit : lathe_jit_new(NULL);
}

void pool_give(LatheJit *jit) {
    if (!idle_give(&compilers, jit, IDLE_MOST))
        lathe_jit_free(jit);
}
