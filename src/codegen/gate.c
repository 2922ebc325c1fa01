/* gate.c: see gate.h. */
#include "codegen/gate.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/process.h"
#include "codegen/statics.h"

static struct {
    pthread_mutex_t lock;   /* of what follows */
    pthread_cond_t changed; /* any of it */
    u32 users;              /* threads that have entered */
    u32 resting;            /* those of them that wait between two passes */
    u32 forking;            /* threads that are about to fork */
    bool closed;
    bool wanted; /* closed or forking: also read without the lock */
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static __thread bool inside; /* this thread is one of the users */

static pthread_once_t prepared = PTHREAD_ONCE_INIT;

/* With the lock. */
static void note_change(void) {
    __atomic_store_n(&gate.wanted, gate.closed || gate.forking, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&gate.changed);
}

static void wait_for_forks(void) {
    while (gate.forking && !gate.closed)
        pthread_cond_wait(&gate.changed, &gate.lock);
}

/* A thread may end the process while it is inside: LLVM does so itself when it gives up. */
static void close_gate(void) {
    pthread_mutex_lock(&gate.lock);
    gate.closed = true;
    note_change();
    while (gate.users > inside)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void copy_path(const ProcessFile *file, void *path) {
    *(char **)path = strdup(file->path);
}

static void keep_loaded(void) {
    char *path = NULL;
    process_look_at((u64)&gate, copy_path, &path);
    void *self = path && *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) : NULL;
    if (self)
        dlclose(self);
    free(path);
}

static void prepare(void) {
    keep_loaded();
    atexit(close_gate); /* after LLVM was loaded, so it is called before the destructors that were registered then */
    statics_destroyed_after(close_gate);
}

void gate_prepare(void) {
    pthread_once(&prepared, prepare);
}

bool gate_enter(void) {
    pthread_mutex_lock(&gate.lock);
    wait_for_forks();
    inside = !gate.closed;
    gate.users += inside;
    pthread_mutex_unlock(&gate.lock);
    return inside;
}

void gate_leave(void) {
    pthread_mutex_lock(&gate.lock);
    inside = false;
    gate.users--;
    note_change();
    pthread_mutex_unlock(&gate.lock);
}

bool gate_is_wanted(void) {
    return inside && __atomic_load_n(&gate.wanted, __ATOMIC_RELAXED);
}

bool gate_is_closed(void) {
    pthread_mutex_lock(&gate.lock);
    bool closed = gate.closed;
    pthread_mutex_unlock(&gate.lock);
    return closed;
}

bool gate_between_passes(void) {
    if (!gate_is_wanted())
        return true;
    pthread_mutex_lock(&gate.lock);
    gate.resting++;
    note_change();
    wait_for_forks();
    gate.resting--;
    bool go_on = !gate.closed;
    pthread_mutex_unlock(&gate.lock);
    return go_on;
}

/* The lock is held until the fork is over, so that it is not another thread's in the child. */
void gate_before_fork(void) {
    pthread_mutex_lock(&gate.lock);
    gate.forking++;
    note_change();
    while (gate.users - gate.resting > inside)
        pthread_cond_wait(&gate.changed, &gate.lock);
}

void gate_after_fork(bool in_child) {
    gate.forking--;
    if (in_child) {
        gate.users = inside;
        gate.resting = gate.forking = 0;
        pthread_cond_init(&gate.changed, NULL); /* those who waited stayed in the parent */
    }
    note_change();
    pthread_mutex_unlock(&gate.lock);
}
