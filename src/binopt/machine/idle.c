/* idle.c: see idle.h. */
#include "binopt/machine/idle.h"

#include <pthread.h>

#include "binopt/fork.h"

enum { MAX_IDLE = 2 };

static struct {
    pthread_mutex_t lock;
    void *rewriter[MAX_IDLE];
    u32 count;
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

void *idle_take(void) {
    fork_protect(&idle.lock);
    pthread_mutex_lock(&idle.lock);
    void *rewriter = idle.count ? idle.rewriter[--idle.count] : NULL;
    pthread_mutex_unlock(&idle.lock);
    return rewriter;
}

bool idle_give(void *rewriter) {
    pthread_mutex_lock(&idle.lock);
    bool kept = idle.count < MAX_IDLE;
    if (kept)
        idle.rewriter[idle.count++] = rewriter;
    pthread_mutex_unlock(&idle.lock);
    return kept;
}
