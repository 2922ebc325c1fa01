/* tiered.c: the rewriter that does not make its caller wait: what comes back at once is a jump to the original, and when a
 * thread of the handle has made the *llvm* version, a jump to that. */
#include <pthread.h>

#include "binopt/rewriter.h"
#include "codegen/codemem.h"

/* A jump through a word beside the code. */
typedef struct Door {
    BinoptCfg *cfg; /* to be specialised; NULL: done */
    BinoptFunc code;
    void **target;
} Door;

typedef struct Tiered {
    void *llvm; /* rewriter_llvm's; used by the worker only */
    CodeMem memory;
    pthread_t worker;
    bool has_worker;

    pthread_mutex_t lock;
    pthread_cond_t more;
    VEC(Door) doors; /* the worker is done with those before `next` */
    size_t next;
    bool stop;
} Tiered;

static bool wait_for_door(Tiered *t, size_t *index) {
    pthread_mutex_lock(&t->lock);
    while (t->next == t->doors.len && !t->stop)
        pthread_cond_wait(&t->more, &t->lock);
    *index = t->next;
    bool found = !t->stop;
    pthread_mutex_unlock(&t->lock);
    return found;
}

static void *work(void *user) {
    Tiered *t = user;
    size_t i;
    while (wait_for_door(t, &i)) {
        pthread_mutex_lock(&t->lock);
        Door door = t->doors.at[i];
        pthread_mutex_unlock(&t->lock);
        BinoptFunc made = rewriter_llvm.specialize(t->llvm, door.cfg);
        if (made)
            __atomic_store_n(door.target, made, __ATOMIC_RELEASE);
        pthread_mutex_lock(&t->lock);
        t->doors.at[i].cfg = NULL;
        t->next++;
        pthread_mutex_unlock(&t->lock);
        config_free(door.cfg);
    }
    return NULL;
}

/* FF /4 with mod 00, rm 101: jmp *disp32(%rip) */
static bool make_door(Tiered *t, const BinoptCfg *cfg, Door *door) {
    enum { JUMP_BYTES = 6, SLOT_BYTES = 8 };
    CodeSpan span;
    if (!codemem_alloc(&t->memory, JUMP_BYTES, SLOT_BYTES, SLOT_BYTES, &span))
        return false;
    i32 distance = (i32)(span.data - (span.code_run + JUMP_BYTES));
    memcpy(span.code_write, (u8[]){0xff, 0x25}, 2);
    memcpy(span.code_write + 2, &distance, sizeof(distance));
    *door = (Door){config_clone(cfg), span.code_run, (void **)span.data};
    *door->target = (void *)cfg->function;
    return true;
}

static bool start_worker(Tiered *t) {
    if (!t->has_worker)
        t->has_worker = !pthread_create(&t->worker, NULL, work, t);
    return t->has_worker;
}

static BinoptFunc specialize(void *self, const BinoptCfg *cfg) {
    Tiered *t = self;
    Door door;
    if (!t || !cfg->typed || !start_worker(t) || !make_door(t, cfg, &door)) {
        config_log(cfg, 1, "left alone: its signature is not known, or there is no memory or no thread");
        return NULL;
    }
    pthread_mutex_lock(&t->lock);
    VEC_PUSH(&t->doors, door);
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
    return door.code;
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
    for (size_t i = t->next; i < t->doors.len; i++)
        config_free(t->doors.at[i].cfg);
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
    .name = "tiered", .driver = "tiered", .open = open_tiered, .close = close_tiered, .specialize = specialize};
