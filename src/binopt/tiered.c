/* tiered.c: the rewriter that does not make its caller wait. It returns at once a door (door.h) to what *trace* can make in almost no time, or to
 * the original. When a thread of the handle has made the *llvm* version, that version competes with both (contest.h).
 *
 * A forked child has the same door, but not the code that is made later: if the process has forked since, the door is not changed any more. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "binopt/choice/choice.h"
#include "binopt/config/rewriter.h"
#include "binopt/llvm/llvm.h"
#include "binopt/process/fork.h"
#include "binopt/trace/trace.h"

/* A function that was given to the application. */
typedef struct Entrance {
    BinoptCfg *cfg;               /* what to specialise, for the worker thread only; NULL: done */
    u64 function;                 /* the original */
    bool always;                  /* there is no contest: what was made last runs */
    BinoptFunc first;             /* made by *trace*, for the handle's thread only; NULL: none */
    BinoptFunc made[CHOICE_MOST]; /* made by *llvm* */
    u32 made_count;
    Door door;             /* for the handle's thread only */
    Contest *contest;      /* NULL: there was none */
    struct Entrance *base; /* the entrance that this was made from, if any: the code may lead there */
    u32 users;             /* the application, until it releases the function, and entrances that were made from it */
    bool released;         /* the application has released it */
    char *why;             /* why there is no *llvm* version; NULL: there is one, or it is being made */
    bool unwanted;         /* door and first were freed; the worker has to free the rest */
} Entrance;

typedef struct Tiered {
    void *llvm;  /* state of rewriter_llvm; only the worker uses it, while there is one */
    void *trace; /* state of rewriter_trace; only the handle's thread uses it */
    pthread_t worker;
    bool has_worker;

    pthread_mutex_t lock; /* protects the following members */
    pthread_cond_t more;
    VEC(Entrance *) entrances;
    bool stop;
} Tiered;

/* Held while a jump is replaced, so that the process does not fork meanwhile. */
static pthread_mutex_t replacing = PTHREAD_MUTEX_INITIALIZER;

/* ---------------------------------------------------------------------------------------------------------- contests */

/* Starts a contest of the versions with the original. Returns false if there is none, because the door does not reach
 * them all or `always` is set. */
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

/* Makes the *llvm* versions take part in the contest. If there is only one, the version that *trace* made first takes
 * part, too. */
static void let_in(Entrance *e) {
    BinoptFunc versions[CHOICE_MOST] = {e->made[0]};
    u32 count = 1;
    if (e->made_count > 1 || e->first)
        versions[count++] = e->made_count > 1 ? e->made[1] : e->first;
    if (!compete(e, versions, count))
        door_lead(&e->door, e->made[0]);
}

/* -------------------------------------------------------------------------------------------------------- the worker */

/* Entrances that are to be freed come first. Returns NULL if there is nothing to do. */
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

/* Frees the rest of an unwanted entrance. */
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

/* The worker blocks all signals; they are for the application's own threads. */
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

/* Frees what the handle's thread has put into an entrance. */
static void close_entrance(Tiered *t, Entrance *e) {
    if (e->first)
        rewriter_trace.release(t->trace, e->first);
    door_free(&e->door);
}

/* The entrance whose door the application has at that address. */
static Entrance *find_entrance(const Tiered *t, u64 function) {
    for (size_t i = 0; i < t->entrances.len; i++)
        if (!t->entrances.at[i]->released && (u64)door_address(&t->entrances.at[i]->door) == function)
            return t->entrances.at[i];
    return NULL;
}

/* If the function is itself such a door, the new function is made from the best version behind it so far. */
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

/* The worker is started last, because it would slow *trace* down. */
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

/* Removes one user. */
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
    e->cfg->watcher = NULL; /* the watcher may be gone when the worker uses the configuration */
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
