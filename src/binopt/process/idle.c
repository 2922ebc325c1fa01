/* idle.c: see idle.h. */
#include "binopt/process/idle.h"

#include "binopt/process/fork.h"

void *idle_take(Idle *idle) {
    fork_protect(&idle->lock);
    pthread_mutex_lock(&idle->lock);
    void *thing = idle->count ? idle->thing[--idle->count] : NULL;
    pthread_mutex_unlock(&idle->lock);
    return thing;
}

bool idle_give(Idle *idle, void *thing, u32 most) {
    pthread_mutex_lock(&idle->lock);
    bool kept = idle->count < most;
    if (kept)
        idle->thing[idle->count++] = thing;
    pthread_mutex_unlock(&idle->lock);
    return kept;
}
