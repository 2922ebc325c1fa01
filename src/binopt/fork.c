/* fork.c: see fork.h. */
#include "binopt/fork.h"

#include "base/base.h"

enum { MAX_LOCKS = 8 };

static struct {
    pthread_mutex_t own; /* comes before the others */
    pthread_mutex_t *lock[MAX_LOCKS];
    u32 count;
} locks = {.own = PTHREAD_MUTEX_INITIALIZER};

static void before(void) {
    pthread_mutex_lock(&locks.own);
    for (u32 i = 0; i < locks.count; i++)
        pthread_mutex_lock(locks.lock[i]);
}

static void after(void) {
    for (u32 i = locks.count; i-- > 0;)
        pthread_mutex_unlock(locks.lock[i]);
    pthread_mutex_unlock(&locks.own);
}

void fork_protect(pthread_mutex_t *lock) {
    bool known = false;
    pthread_mutex_lock(&locks.own);
    for (u32 i = 0; i < locks.count; i++)
        known |= locks.lock[i] == lock;
    if (!known) {
        CHECK(locks.count < MAX_LOCKS, "there are few locks of the process");
        locks.lock[locks.count++] = lock;
    }
    if (!known && locks.count == 1)
        pthread_atfork(before, after, after);
    pthread_mutex_unlock(&locks.own);
}
