/* tiered.c: the rewriter that does not make its caller wait: what comes back at once is a jump to the original, and when a
 * thread of the handle has made the *llvm* version, a jump to that. */
#include <pthread.h>

#include "binopt/rewriter.h"
#include "codegen/codemem.h"

/* A jump through a word beside the code. */
typedef struct Door {
    BinoptCfg *cfg;  /* to be specialised, by the worker alone; NULL: done */
    BinoptFunc made; /* by *llvm*; NULL: none */
    CodeSpan span;
    void **target;
    bool unwanted; /* the worker has to free it */
} Door;

typedef struct Tiered {
    void *llvm; /* rewriter_llvm's; used by the worker only, while there is one */
    pthread_t worker;
    bool has_worker;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t more;
    CodeMem memory;
    VEC(Door *) doors;
    bool stop;
} Tiered;

/* -------------------------------------------------------------------------------------------------------- the worker */

/* What is to be freed goes first. NULL: nothing is to be done. */
static Door *find_work(Tiered *t) {
    Door *work = NULL;
    for (size_t i = t->doors.len; i-- > 0;) {
        Door *d = t->doors.at[i];
        if (d->unwanted)
            return d;
        work = d->cfg ? d : work;
    }
    return work;
}

static Door *wait_for_work(Tiered *t) {
    Door *d = NULL;
    pthread_mutex_lock(&t->lock);
    while (!t->stop && !(d = find_work(t)))
        pthread_cond_wait(&t->more, &t->lock);
    bool stop = t->stop;
    pthread_mutex_unlock(&t->lock);
    return stop ? NULL : d;
}

static void specialize_door(Tiered *t, Door *d) {
    d->made = rewriter_llvm.specialize(t->llvm, d->cfg);
    if (d->made)
        __atomic_store_n(d->target, d->made, __ATOMIC_RELEASE);
    config_free(d->cfg);
    pthread_mutex_lock(&t->lock);
    d->cfg = NULL;
    pthread_mutex_unlock(&t->lock);
}

static void free_door(Tiered *t, Door *d) {
    if (d->made)
        rewriter_llvm.release(t->llvm, d->made);
    if (d->cfg)
        config_free(d->cfg);
    pthread_mutex_lock(&t->lock);
    codemem_release(&t->memory, &d->span);
    for (size_t i = 0; i < t->doors.len; i++)
        if (t->doors.at[i] == d)
            t->doors.at[i] = t->doors.at[--t->doors.len];
    pthread_mutex_unlock(&t->lock);
    mem_free(d);
}

static void *work(void *user) {
    Tiered *t = user;
    for (Door *d; (d = wait_for_work(t));) {
        if (__atomic_load_n(&d->unwanted, __ATOMIC_RELAXED))
            free_door(t, d);
        else
            specialize_door(t, d);
    }
    return NULL;
}

static bool start_worker(Tiered *t) {
    if (!t->has_worker)
        t->has_worker = !pthread_create(&t->worker, NULL, work, t);
    return t->has_worker;
}

/* -------------------------------------------------------------------------------------------------------- the handle's */

/* FF /4 with mod 00, rm 101: jmp *disp32(%rip) */
static bool make_door(Tiered *t, const BinoptCfg *cfg, Door *door) {
    enum { JUMP_BYTES = 6, SLOT_BYTES = 8 };
    CodeSpan *span = &door->span;
    if (!codemem_alloc(&t->memory, JUMP_BYTES, SLOT_BYTES, SLOT_BYTES, span))
        return false;
    i32 distance = (i32)(span->data - (span->code_run + JUMP_BYTES));
    memcpy(span->code_write, (u8[]){0xff, 0x25}, 2);
    memcpy(span->code_write + 2, &distance, sizeof(distance));
    door->cfg = config_clone(cfg);
    door->target = (void **)span->data;
    *door->target = (void *)cfg->function;
    return true;
}

static BinoptFunc specialize(void *self, const BinoptCfg *cfg) {
    Tiered *t = self;
    if (!t || !cfg->typed || !start_worker(t)) {
        config_log(cfg, 1, "left alone: its signature is not known, or there is no memory or no thread");
        return NULL;
    }
    Door *door = mem_new(sizeof(*door));
    pthread_mutex_lock(&t->lock);
    bool ok = make_door(t, cfg, door);
    if (ok)
        VEC_PUSH(&t->doors, door);
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
    if (ok)
        return door->span.code_run;
    mem_free(door);
    config_log(cfg, 1, "left alone: there is no memory for code");
    return NULL;
}

static void release(void *self, BinoptFunc made) {
    Tiered *t = self;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->doors.len; i++)
        if (t->doors.at[i]->span.code_run == (u8 *)made)
            __atomic_store_n(&t->doors.at[i]->unwanted, true, __ATOMIC_RELAXED);
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
}

static void close_tiered(void *self) {
    Tiered *t = self;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
    if (t->has_worker)
        pthread_join(t->worker, NULL);
    while (t->doors.len)
        free_door(t, t->doors.at[0]);
    VEC_FREE(&t->doors);
    rewriter_llvm.close(t->llvm);
    codemem_free(&t->memory);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->more);
    mem_free(t);
}

static void *open_tiered(void) {
    Tiered *t = mem_new(sizeof(*t));
    if (!codemem_init(&t->memory)) {
        mem_free(t);
        return NULL;
    }
    t->llvm = rewriter_llvm.open();
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->more, NULL);
    return t;
}

const Rewriter rewriter_tiered = {
    .name = "tiered",
    .driver = "tiered",
    .open = open_tiered,
    .close = close_tiered,
    .specialize = specialize,
    .release = release,
};
