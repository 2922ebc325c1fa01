/* tiered.c: the rewriter that does not make its caller wait: what comes back at once is a jump to what *trace* can make in no time, or
 * to the original, and when a thread of the handle has made the *llvm* version, a jump to that.
 *
 * The jump is one instruction in one aligned word that is replaced as a whole, so that a thread that comes by executes the old one or
 * the new one. It is a direct one where its target is in reach, which costs a caller nothing that could be measured. A child of
 * the process has the same word, but not what is made later: if the process has forked since, the jump stays as it is. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "binopt/config/rewriter.h"
#include "binopt/process/fork.h"
#include "binopt/trace/trace.h"

typedef struct Door {
    BinoptCfg *cfg;         /* to be specialised, by the worker alone; NULL: done */
    BinoptFunc first, made; /* by *trace*, for the handle's thread alone, and by *llvm*; NULL: none */
    CodeMem *memory;        /* of the span; also the handle's thread's */
    u64 forks;              /* before it was made */
    CodeSpan span;          /* the word, and in its data another one for the address of a target that is out of reach */
    struct Door *base;      /* what it was made from, if that is one of these: it may lead there */
    u32 users;              /* the application, as long as it wants it, and what was made from it */
    bool released;          /* by the application */
    char *why;              /* there is no version of *llvm* or it is not used; NULL: it is, or is being made */
    bool unwanted;          /* span and first are gone, the worker has to free the rest */
} Door;

typedef struct Tiered {
    void *llvm;  /* rewriter_llvm's; used by the worker only, while there is one */
    void *trace; /* rewriter_trace's; used by the handle's thread only */
    pthread_t worker;
    bool has_worker;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t more;
    VEC(Door *) doors;
    bool stop;
} Tiered;

/* Nobody forks while a jump is replaced. */
static pthread_mutex_t replacing = PTHREAD_MUTEX_INITIALIZER;

/* ------------------------------------------------------------------------------------------------------------ doors */

enum { WORD_BYTES = 8 };

/* E9: jmp rel32, or FF /4 with mod 00, rm 101: jmp *disp32(%rip). What is behind it is never reached. */
static void lead_to(Door *d, BinoptFunc target) {
    enum { DIRECT_BYTES = 5, INDIRECT_BYTES = 6 };
    u8 code[WORD_BYTES] = {0xe9, 0, 0, 0, 0, 0xcc, 0xcc, 0xcc};
    i64 distance = (i64)((u64)target - ((u64)d->span.code_run + DIRECT_BYTES));
    i32 low = (i32)distance;
    if (low == distance) {
        memcpy(code + 1, &low, sizeof(low));
    } else {
        __atomic_store_n((BinoptFunc *)d->span.data, target, __ATOMIC_RELEASE);
        low = (i32)(d->span.data - (d->span.code_run + INDIRECT_BYTES));
        memcpy(code, (u8[]){0xff, 0x25}, 2);
        memcpy(code + 2, &low, sizeof(low));
    }
    u64 word;
    memcpy(&word, code, sizeof(word));
    __atomic_store_n((u64 *)d->span.code_write, word, __ATOMIC_RELEASE);
}

static bool alloc_door(Door *d, CodeMem *memory) {
    if (memory && codemem_alloc(memory, WORD_BYTES, WORD_BYTES, WORD_BYTES, &d->span))
        d->memory = memory;
    return d->memory != NULL;
}

static bool make_door(Tiered *t, Door *d) {
    u64 function = d->cfg->function;
    Places *places = trace_places(t->trace);
    if (!alloc_door(d, places_near(places, function)) && !alloc_door(d, places_new(places, function)) &&
        !alloc_door(d, places_far(places)))
        return false;
    lead_to(d, d->first ? d->first : (BinoptFunc)function);
    return true;
}

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
    BinoptFunc made = rewriter_llvm.specialize(t->llvm, d->cfg);
    char *why = made ? NULL : d->cfg->reason;
    if (why)
        d->cfg->reason = NULL;
    config_free(d->cfg);
    pthread_mutex_lock(&t->lock);
    d->cfg = NULL;
    d->made = made;
    d->why = why;
    pthread_mutex_lock(&replacing);
    if (made && !d->unwanted && d->forks == fork_count())
        lead_to(d, made);
    pthread_mutex_unlock(&replacing);
    pthread_mutex_unlock(&t->lock);
}

/* What is left of one that is unwanted. */
static void free_door(Tiered *t, Door *d) {
    if (d->made)
        rewriter_llvm.release(t->llvm, d->made);
    if (d->cfg)
        config_free(d->cfg);
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->doors.len; i++)
        if (t->doors.at[i] == d)
            t->doors.at[i] = t->doors.at[--t->doors.len];
    pthread_mutex_unlock(&t->lock);
    mem_free(d->why);
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

/* Signals are for the application's own threads. */
static bool start_worker(Tiered *t) {
    sigset_t all, before;
    if (t->has_worker)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    t->has_worker = !pthread_create(&t->worker, NULL, work, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return t->has_worker;
}

/* -------------------------------------------------------------------------------------------------------- the handle's */

/* Takes from a door what the handle's thread gave it. */
static void close_door(Tiered *t, Door *d) {
    if (d->first)
        rewriter_trace.release(t->trace, d->first);
    if (d->memory && d->forks == fork_count())
        codemem_release(d->memory, &d->span);
}

/* The one that the application has at that address. */
static Door *find_door(const Tiered *t, u64 function) {
    for (size_t i = 0; i < t->doors.len; i++)
        if (!t->doors.at[i]->released && (u64)t->doors.at[i]->span.code_run == function)
            return t->doors.at[i];
    return NULL;
}

/* The worker is started last: it would be in the way of *trace*. */
static bool hand_over(Tiered *t, Door *d) {
    if (!make_door(t, d) || !start_worker(t))
        return false;
    pthread_mutex_lock(&t->lock);
    d->users = 1;
    d->base = find_door(t, d->cfg->function);
    if (d->base)
        d->base->users++;
    VEC_PUSH(&t->doors, d);
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
    return true;
}

static BinoptFunc specialize(void *self, const BinoptCfg *cfg) {
    Tiered *t = self;
    Door *d = mem_new(sizeof(*d));
    d->cfg = config_clone(cfg);
    d->cfg->watcher = NULL; /* it may be gone when the worker comes to it */
    d->forks = fork_count();
    d->first = trace_quickly(t->trace, cfg);
    if (hand_over(t, d))
        return d->span.code_run;
    config_refuse(cfg, "there is no memory for its code, or no thread can be started");
    close_door(t, d);
    config_free(d->cfg);
    mem_free(d);
    return NULL;
}

static void drop(Tiered *t, Door *d) {
    while (d && --d->users == 0) {
        Door *base = d->base;
        close_door(t, d);
        __atomic_store_n(&d->unwanted, true, __ATOMIC_RELAXED);
        d = base;
    }
}

static void release(void *self, BinoptFunc made) {
    Tiered *t = self;
    pthread_mutex_lock(&t->lock);
    Door *found = find_door(t, (u64)made);
    if (found)
        found->released = true;
    drop(t, found);
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
}

static const char *reason_of(const Door *d) {
    if (!d)
        return "";
    if (d->cfg)
        return "the version of llvm is not there yet";
    if (d->why)
        return d->why;
    return d->forks == fork_count() ? "" : "the process has forked before the version of llvm was there";
}

static void reason(void *self, BinoptFunc made, char *text, size_t size) {
    Tiered *t = self;
    pthread_mutex_lock(&t->lock);
    snprintf(text, size, "%s", reason_of(find_door(t, (u64)made)));
    pthread_mutex_unlock(&t->lock);
}

static void close_tiered(void *self) {
    Tiered *t = self;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
    if (t->has_worker)
        pthread_join(t->worker, NULL);
    while (t->doors.len) {
        if (!t->doors.at[0]->unwanted)
            close_door(t, t->doors.at[0]);
        free_door(t, t->doors.at[0]);
    }
    VEC_FREE(&t->doors);
    rewriter_llvm.close(t->llvm);
    rewriter_trace.close(t->trace);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->more);
    mem_free(t);
}

static void *open_tiered(void) {
    Tiered *t = mem_new(sizeof(*t));
    fork_protect(&replacing);
    t->llvm = rewriter_llvm.open();
    t->trace = rewriter_trace.open();
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
    .reason = reason,
};
