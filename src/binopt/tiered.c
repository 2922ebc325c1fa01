/* tiered.c: the rewriter that does not make its caller wait: what comes back at once is a door (door.h) to what *trace* can make in no time,
 * or to the original, and when a thread of the handle has made the *llvm* version, it competes with both (contest.h).
 *
 * A child of the process has the same door, but not what is made later: if the process has forked since, it stays as it is. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "binopt/choice/choice.h"
#include "binopt/config/rewriter.h"
#include "binopt/llvm/llvm.h"
#include "binopt/process/fork.h"
#include "binopt/trace/trace.h"

/* A function that the application has. */
typedef struct Entrance {
    BinoptCfg *cfg;               /* to be specialised, by the worker alone; NULL: done */
    u64 function;                 /* the original */
    bool always;                  /* nothing competes: what was made last runs */
    BinoptFunc first;             /* by *trace*, for the handle's thread alone; NULL: none */
    BinoptFunc made[CHOICE_MOST]; /* by *llvm* */
    u32 made_count;
    Door door;             /* also the handle's thread's */
    Contest *contest;      /* NULL: there was none */
    struct Entrance *base; /* what it was made from, if that is one of these: it may lead there */
    u32 users;             /* the application, as long as it wants it, and what was made from it */
    bool released;         /* by the application */
    char *why;             /* there is no version of *llvm*; NULL: there is, or it is being made */
    bool unwanted;         /* door and first are gone, the worker has to free the rest */
} Entrance;

typedef struct Tiered {
    void *llvm;  /* rewriter_llvm's; used by the worker only, while there is one */
    void *trace; /* rewriter_trace's; used by the handle's thread only */
    pthread_t worker;
    bool has_worker;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t more;
    VEC(Entrance *) entrances;
    bool stop;
} Tiered;

/* Nobody forks while a jump is replaced. */
static pthread_mutex_t replacing = PTHREAD_MUTEX_INITIALIZER;

/* ---------------------------------------------------------------------------------------------------------- contests */

/* The versions compete with the original; false: they do not, because the door does not reach them all or nobody wants it. */
static bool compete(Entrance *e, const BinoptFunc *versions, u32 count) {
    return !e->always && choice_compete(&e->contest, &e->door, versions, count, e->function);
}

static bool make_door(Tiered *t, Entrance *e) {
    if (!door_make(&e->door, trace_places(t->trace), e->function))
        return false;
    if (!e->first)
        door_lead(&e->door, (BinoptFunc)e->function);
    else if (!compete(e, &e->first, 1))
        door_lead(&e->door, e->first);
    return true;
}

/* What *llvm* made takes part from now on. If it has no other version, what *trace* made first does. */
static void let_in(Entrance *e) {
    BinoptFunc versions[CHOICE_MOST] = {e->made[0]};
    u32 count = 1;
    if (e->made_count > 1 || e->first)
        versions[count++] = e->made_count > 1 ? e->made[1] : e->first;
    if (!compete(e, versions, count))
        door_lead(&e->door, e->made[0]);
}

/* -------------------------------------------------------------------------------------------------------- the worker */

/* What is to be freed goes first. NULL: nothing is to be done. */
static Entrance *find_work(Tiered *t) {
    Entrance *work = NULL;
    for (size_t i = t->entrances.len; i-- > 0;) {
        Entrance *e = t->entrances.at[i];
        if (e->unwanted)
            return e;
        work = e->cfg ? e : work;
    }
    return work;
}

static Entrance *wait_for_work(Tiered *t) {
    Entrance *e = NULL;
    pthread_mutex_lock(&t->lock);
    while (!t->stop && !(e = find_work(t)))
        pthread_cond_wait(&t->more, &t->lock);
    bool stop = t->stop;
    pthread_mutex_unlock(&t->lock);
    return stop ? NULL : e;
}

static void specialize_entrance(Tiered *t, Entrance *e) {
    BinoptFunc made[CHOICE_MOST];
    u32 count = llvm_versions(t->llvm, e->cfg, made);
    char *why = count ? NULL : e->cfg->reason;
    if (why)
        e->cfg->reason = NULL;
    config_free(e->cfg);
    pthread_mutex_lock(&t->lock);
    e->cfg = NULL;
    memcpy(e->made, made, count * sizeof(*made));
    e->made_count = count;
    e->why = why;
    pthread_mutex_lock(&replacing);
    if (count && !e->unwanted && e->door.forks == fork_count())
        let_in(e);
    pthread_mutex_unlock(&replacing);
    pthread_mutex_unlock(&t->lock);
}

/* What is left of one that is unwanted. */
static void free_entrance(Tiered *t, Entrance *e) {
    for (u32 i = 0; i < e->made_count; i++)
        rewriter_llvm.release(t->llvm, e->made[i]);
    if (e->cfg)
        config_free(e->cfg);
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->entrances.len; i++)
        if (t->entrances.at[i] == e)
            t->entrances.at[i] = t->entrances.at[--t->entrances.len];
    pthread_mutex_unlock(&t->lock);
    contest_free(e->contest);
    mem_free(e->why);
    mem_free(e);
}

static void *work(void *user) {
    Tiered *t = user;
    for (Entrance *e; (e = wait_for_work(t));) {
        if (__atomic_load_n(&e->unwanted, __ATOMIC_RELAXED))
            free_entrance(t, e);
        else
            specialize_entrance(t, e);
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
static void close_entrance(Tiered *t, Entrance *e) {
    if (e->first)
        rewriter_trace.release(t->trace, e->first);
    door_free(&e->door);
}

/* The one that the application has at that address. */
static Entrance *find_entrance(const Tiered *t, u64 function) {
    for (size_t i = 0; i < t->entrances.len; i++)
        if (!t->entrances.at[i]->released && (u64)door_address(&t->entrances.at[i]->door) == function)
            return t->entrances.at[i];
    return NULL;
}

/* What is made from a function of these is made from the best version of it that there is. */
static void find_base(Tiered *t, Entrance *e) {
    pthread_mutex_lock(&t->lock);
    Entrance *base = e->base = find_entrance(t, e->cfg->function);
    if (base) {
        base->users++;
        BinoptFunc best = base->made_count ? base->made[0] : base->first;
        e->cfg->function = best ? (u64)best : base->function;
    }
    pthread_mutex_unlock(&t->lock);
    e->function = e->cfg->function;
}

/* The worker is started last: it would be in the way of *trace*. */
static bool hand_over(Tiered *t, Entrance *e) {
    e->first = trace_quickly(t->trace, e->cfg);
    if (!make_door(t, e) || !start_worker(t))
        return false;
    pthread_mutex_lock(&t->lock);
    e->users = 1;
    VEC_PUSH(&t->entrances, e);
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
    return true;
}

/* One user less. */
static void drop(Tiered *t, Entrance *e) {
    while (e && --e->users == 0) {
        Entrance *base = e->base;
        close_entrance(t, e);
        __atomic_store_n(&e->unwanted, true, __ATOMIC_RELAXED);
        e = base;
    }
}

static BinoptFunc specialize(void *self, const BinoptCfg *cfg) {
    Tiered *t = self;
    Entrance *e = mem_new(sizeof(*e));
    e->cfg = config_clone(cfg);
    e->cfg->watcher = NULL; /* it may be gone when the worker comes to it */
    e->always = cfg->always;
    find_base(t, e);
    if (hand_over(t, e))
        return door_address(&e->door);
    config_refuse(cfg, "there is no memory for its code, or no thread can be started");
    pthread_mutex_lock(&t->lock);
    drop(t, e->base);
    pthread_mutex_unlock(&t->lock);
    close_entrance(t, e);
    config_free(e->cfg);
    mem_free(e);
    return NULL;
}

static void release(void *self, BinoptFunc made) {
    Tiered *t = self;
    pthread_mutex_lock(&t->lock);
    Entrance *found = find_entrance(t, (u64)made);
    if (found)
        found->released = true;
    drop(t, found);
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
}

static const char *reason_of(const Entrance *e) {
    if (!e)
        return "";
    if (e->cfg)
        return "the version of llvm is not there yet";
    if (e->why)
        return e->why;
    if (e->contest && contest_lost(e->contest))
        return CHOICE_LOST;
    return e->door.forks == fork_count() ? "" : "the process has forked before the version of llvm was there";
}

static void reason(void *self, BinoptFunc made, char *text, size_t size) {
    Tiered *t = self;
    pthread_mutex_lock(&t->lock);
    snprintf(text, size, "%s", reason_of(find_entrance(t, (u64)made)));
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
    while (t->entrances.len) {
        if (!t->entrances.at[0]->unwanted)
            close_entrance(t, t->entrances.at[0]);
        free_entrance(t, t->entrances.at[0]);
    }
    VEC_FREE(&t->entrances);
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
