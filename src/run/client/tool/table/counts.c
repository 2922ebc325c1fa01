/* counts.c: LatheCounts of lathe/tool.h: counters by number. Each thread that counts has a part, an array with all numbers; memory that it does not touch costs nothing. A
 * part whose thread has ended keeps what was counted, and the next thread goes on with it. */
#include "run/client/tool/table/counts.h"

typedef struct LatheCountsPart {
    struct LatheCountsPart *next;
    u64 *word; /* the word of the thread that has it; NULL: no thread has it */
    u64 count[LATHE_COUNTS_MOST];
} Part;

static LatheCounts *all; /* those that have parts: variables of the tool's, so none ever goes away */
static LatheLock lock_of_lists;

/* What is in the lists stays there, except in a child of fork, so they can be walked through without the lock. */
static Part *first_part(const LatheCounts *counts) {
    return __atomic_load_n(&counts->parts, __ATOMIC_ACQUIRE);
}

static void enlist(LatheCounts *counts) {
    if (counts->listed)
        return;
    counts->listed = true;
    counts->next = all;
    __atomic_store_n(&all, counts, __ATOMIC_RELEASE);
}

static Part *free_part(LatheCounts *counts) {
    for (Part *p = counts->parts; p; p = p->next)
        if (!__atomic_load_n(&p->word, __ATOMIC_ACQUIRE))
            return p;
    Part *p = lathe_alloc(sizeof(Part));
    p->next = counts->parts;
    __atomic_store_n(&counts->parts, p, __ATOMIC_RELEASE);
    return p;
}

/* The first time that a thread counts. */
void lathe_counts_first(LatheCounts *counts, uint64_t *word, uint64_t number, uint64_t amount) {
    lathe_lock(&lock_of_lists);
    enlist(counts);
    Part *p = free_part(counts);
    p->word = word;
    lathe_unlock(&lock_of_lists);
    *word = (u64)p->count;
    p->count[number] += amount;
}

uint64_t lathe_counts_new(LatheCounts *counts) {
    u64 number = __atomic_add_fetch(&counts->used, 1, __ATOMIC_RELAXED);
    return number < LATHE_COUNTS_MOST ? number : 0;
}

uint64_t lathe_counts_total(const LatheCounts *counts, uint64_t number) {
    u64 sum = 0;
    for (const Part *p = first_part(counts); p; p = p->next)
        sum += __atomic_load_n(&p->count[number % LATHE_COUNTS_MOST], __ATOMIC_RELAXED);
    return sum;
}

static bool is_of(const Part *p, const Thread *t) {
    return (u64)p->word - (u64)t->tool.own < sizeof(t->tool.own);
}

void counts_thread_ends(Thread *t) {
    for (const LatheCounts *c = __atomic_load_n(&all, __ATOMIC_ACQUIRE); c; c = c->next)
        for (Part *p = first_part(c); p; p = p->next)
            if (is_of(p, t))
                __atomic_store_n(&p->word, NULL, __ATOMIC_RELEASE);
}

void counts_after_fork(Thread *t) {
    for (LatheCounts *c = all; c; c = c->next)
        for (Part *p; (p = c->parts);) {
            c->parts = p->next;
            if (is_of(p, t))
                *p->word = 0;
            lathe_free(p);
        }
}
