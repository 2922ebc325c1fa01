/* pool.c: see pool.h. */
#include "binopt/llvm/pool.h"

#include <pthread.h>

#include "base/base.h"
#include "binopt/fork.h"

enum { MAX_IDLE = 4 };

static struct {
    pthread_mutex_t lock;
    LatheJit *idle[MAX_IDLE];
    u32 count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

LatheJit *pool_take(void) {
    fork_protect(&pool.lock);
    pthread_mutex_lock(&pool.lock);
    LatheJit *jit = pool.count ? pool.idle[--pool.count] : NULL;
    pthread_mutex_unlock(&pool.lock);
    return jit ? jit : lathe_jit_new(NULL);
}

void pool_give(LatheJit *jit) {
    pthread_mutex_lock(&pool.lock);
    if (pool.count < MAX_IDLE) {
        pool.idle[pool.count++] = jit;
        jit = NULL;
    }
    pthread_mutex_unlock(&pool.lock);
    lathe_jit_free(jit);
}
