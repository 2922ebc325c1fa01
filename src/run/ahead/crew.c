/* crew.c: hands functions out to workers until nothing is left.
 *
 * A worker works through one region of a file: what it knows of the code there keeps it from translating the same code
 * twice. With a profile it takes the hottest function instead, wherever that is. A worker that dies is replaced; what it was at is tried once more, with little effort, and then given up. Workers are also
 * replaced now and then, because LLVM does not free all it takes. */
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "run/ahead/ahead.h"

enum { RENEW_ANSWERS = 3000, GIVE_UP_MS = 300 * 1000, TICK_MS = 200 };

typedef struct Crew {
    AheadFiles *files;
    const AheadPlan *plan;
    Progress *progress;
    Worker *workers;
    PackWriter *writer;
    u32 started_in_vain; /* in a row */
} Crew;

u64 ahead_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

/* ------------------------------------------------------------------------------------------------------ handing out */

/* Is b rather to be taken than a? One that nobody has, or else the one with most to do. */
static bool is_better(const Region *a, const Region *b) {
    if (!a || !a->taken != !b->taken)
        return !a || !b->taken;
    return a->taken && b->waiting.len > a->waiting.len;
}

static bool take_region(Crew *c, Worker *w) {
    w->region = NULL;
    for (size_t i = 0; i < c->files->len; i++)
        for (size_t k = 0; k < c->files->at[i]->regions.len; k++) {
            Region *r = &c->files->at[i]->regions.at[k];
            if (r->waiting.len && is_better(w->region, r)) {
                w->region = r;
                w->file = c->files->at[i];
            }
        }
    if (w->region)
        w->region->taken++;
    return w->region;
}

static void leave_region(Worker *w) {
    if (w->region)
        w->region->taken--;
    w->region = NULL;
    w->file = NULL;
}

/* The hottest function of all that wait in a region, if it is hotter than what the worker would begin with. */
static void look_for_hotter(Worker *w, AheadFile *f, Region *r, size_t *at) {
    for (size_t i = 0; i < r->waiting.len; i++)
        if (!w->region || file_heat(f, r->waiting.at[i]) > file_heat(w->file, w->region->waiting.at[*at])) {
            w->file = f;
            w->region = r;
            *at = i;
        }
}

static bool take_hottest(Crew *c, Worker *w, u64 *off) {
    size_t at = 0;
    leave_region(w);
    for (size_t i = 0; i < c->files->len; i++)
        for (size_t k = 0; k < c->files->at[i]->regions.len; k++)
            look_for_hotter(w, c->files->at[i], &c->files->at[i]->regions.at[k], &at);
    if (!w->region)
        return false;
    w->region->taken++;
    *off = w->region->waiting.at[at];
    w->region->waiting.at[at] = w->region->waiting.at[--w->region->waiting.len];
    return true;
}

/* What a worker is to do next; false: nothing. */
static bool next_for(Crew *c, Worker *w, u64 *off) {
    if (c->plan->profile)
        return take_hottest(c, w, off);
    if (w->region && !w->region->waiting.len)
        leave_region(w);
    if (!w->region && !take_region(c, w))
        return false;
    *off = w->region->waiting.at[--w->region->waiting.len];
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static void close_function(AheadFile *f, u64 off, FunctionState state) {
    map64_set(&f->known, off, state);
    f->open--;
}

static void take_answer(Crew *c, Worker *w, const ObjectMessage *facts, const void *object) {
    AheadFile *f = w->file;
    bool code = facts->object_size;
    f->done += code;
    f->no_code += !code;
    f->insns += code ? facts->insns : 0;
    if (code)
        worker_keep(w, c->writer, facts, object);
    if (code && !c->plan->profile)
        file_want_references(f, object, facts->object_size);
    close_function(f, w->off, code ? FUNCTION_DONE : FUNCTION_FAILED);
}

/* The worker is gone, or as good as, with a function that it was to translate. */
static void lose_worker(Crew *c, Worker *w) {
    AheadFile *f = w->file;
    Region *r = w->region;
    worker_stop(w, true);
    if (file_state(f, w->off) == FUNCTION_WAITING) {
        map64_set(&f->known, w->off, FUNCTION_RETRIED);
        VEC_PUSH(&r->waiting, w->off);
    } else {
        f->given_up++;
        progress_say(c->progress, "%s: the code at offset 0x%lx cannot be translated: the server fails", f->name,
                     w->off);
        close_function(f, w->off, FUNCTION_FAILED);
    }
    leave_region(w);
}

/* Give a worker that has nothing to do something; false: it still has nothing. */
static bool employ(Crew *c, Worker *w) {
    u64 off;
    if (!next_for(c, w, &off))
        return false;
    if (w->answers >= RENEW_ANSWERS)
        worker_stop(w, false);
    if ((w->pid || worker_start(w, c->plan)) &&
        worker_ask(w, w->file, off, file_state(w->file, off) == FUNCTION_RETRIED))
        return true;
    w->off = off;
    c->started_in_vain++;
    lose_worker(c, w);
    return false;
}

/* --------------------------------------------------------------------------------------------------------- the loop */

/* A worker with a message, or whose time is up. */
static void attend(Crew *c, Worker *w, bool *busy, bool message) {
    ObjectMessage facts;
    const void *object;
    WorkerEvent event = message ? worker_receive(w, &facts, &object) : WORKER_BUSY;
    if (event == WORKER_ANSWER) {
        c->started_in_vain = 0;
        *busy = false;
        take_answer(c, w, &facts, object);
    } else if (event == WORKER_LOST || ahead_now_ms() - w->since_ms > GIVE_UP_MS) {
        c->started_in_vain += !w->answers;
        lose_worker(c, w);
        *busy = false;
    }
}

/* One round; false: nobody has anything to do. */
static bool go_on(Crew *c, struct pollfd *polls, bool *busy) {
    u32 count = c->plan->jobs, working = 0;
    for (u32 i = 0; i < count; i++) {
        busy[i] = busy[i] || employ(c, &c->workers[i]);
        polls[i] = (struct pollfd){.fd = busy[i] ? c->workers[i].connection.fd : -1, .events = POLLIN};
        working += busy[i];
    }
    if (!working)
        return false;
    poll(polls, count, TICK_MS);
    for (u32 i = 0; i < count; i++)
        if (busy[i])
            attend(c, &c->workers[i], &busy[i], polls[i].revents);
    progress_tick(c->progress);
    return true;
}

static bool anything_open(const AheadFiles *files) {
    for (size_t i = 0; i < files->len; i++)
        if (files->at[i]->open)
            return true;
    return false;
}

CrewEnd crew_run(AheadFiles *files, const AheadPlan *plan, Progress *progress, const volatile int *stop) {
    enum { VAIN_MAX = 40 };
    Crew c = {.files = files, .plan = plan, .progress = progress, .writer = pack_writer_open(plan->cache_dir)};
    struct pollfd *polls = mem_new(plan->jobs * sizeof(*polls));
    bool *busy = mem_new(plan->jobs * sizeof(*busy));
    c.workers = mem_new(plan->jobs * sizeof(Worker));
    while (!*stop && c.started_in_vain < VAIN_MAX && (go_on(&c, polls, busy) || anything_open(files)))
        ;
    for (u32 i = 0; i < plan->jobs; i++)
        worker_free(&c.workers[i]);
    pack_writer_close(c.writer);
    mem_free(c.workers);
    mem_free(busy);
    mem_free(polls);
    return *stop ? CREW_INTERRUPTED : c.started_in_vain >= VAIN_MAX ? CREW_NO_SERVER : CREW_FINISHED;
}
