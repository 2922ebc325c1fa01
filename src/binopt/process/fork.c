/* fork.c: see fork.h. */
#include "binopt/process/fork.h"

enum { MAX_LOCKS = 8 };

static struct {
    pthread_mutex_t own; /* taken before the others */
    pthread_mutex_t *lock[MAX_LOCKS];
    u32 count;
    u64 forks;
    void (*call_before)(void); /* NULL: nothing to call */
    void (*call_after)(bool in_child);
    bool called; /* call_before was called for the fork that is under way */
} locks = {.own = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t watched = PTHREAD_ONCE_INIT;

static void before(void) {
    void (*call)(void) = __atomic_load_n(&locks.call_before, __ATOMIC_ACQUIRE);
    if (call)
        call();
    pthread_mutex_lock(&locks.own);
    locks.called = call != NULL;
    for (u32 i = 0; i < locks.count; i++)
        pthread_mutex_lock(locks.lock[i]);
    __atomic_fetch_add(&locks.forks, 1, __ATOMIC_RELAXED);
}

static void after(bool in_child) {
    bool called = locks.called;
    for (u32 i = locks.count; i-- > 0;)
        pthread_mutex_unlock(locks.lock[i]);
    pthread_mutex_unlock(&locks.own);
    if (called)
        locks.call_after(in_child);
}

static void after_in_parent(void) {
    after(false);
}

static void after_in_child(void) {
    after(true);
}

static void watch(void) {
    pthread_atfork(before, after_in_parent, after_in_child);
}

void fork_call(void (*call_before)(void), void (*call_after)(bool in_child)) {
    locks.call_after = call_after;
    __atomic_store_n(&locks.call_before, call_before, __ATOMIC_RELEASE);
    pthread_once(&watched, watch);
}

void fork_protect(pthread_mutex_t *lock) {
    bool known = false;
    pthread_once(&watched, watch);
    pthread_mutex_lock(&locks.own);
    for (u32 i = 0; i < locks.count; i++)
        known |= locks.lock[i] == lock;
    if (!known) {
        CHECK(locks.count < MAX_LOCKS, "there are few locks of the process");
        locks.lock[locks.count++] = lock;
    }
    pthread_mutex_unlock(&locks.own);
}

u64 fork_count(void) {
    pthread_once(&watched, watch);
    return __atomic_load_n(&locks.forks, __ATOMIC_RELAXED);
}
