/* own.c: counts accesses in words of each thread's own, in functions with rare parts, early returns and two ways, and says whether that is what counters count. */
#include <lathe/tool.h>

typedef struct Own {
    uint64_t loads, limit, full; /* since the rare part was needed last; when it is needed; and before that */
    uint64_t low, high, stores;  /* by a bit of the address; by all of them */
    uint64_t turns, last;        /* the address that was loaded from last, but in the rare part */
} Own;

enum { LIMIT = 7 };

static LatheCounter loads, stores;
static uint64_t ended_loads, ended_stores;

static void begin(Own *own) {
    *own = (Own){.limit = LIMIT};
}

static void add(const Own *own) {
    __atomic_fetch_add(&ended_loads, own->full + own->loads, __ATOMIC_RELAXED);
    __atomic_fetch_add(&ended_stores, own->low + own->high, __ATOMIC_RELAXED);
    if (own->low + own->high != own->stores)
        lathe_print("%lu and %lu stores are not %lu\n", own->low, own->high, own->stores);
}

static __attribute__((noinline, cold)) void empty(Own *own) {
    own->full += own->loads;
    own->loads = 0;
    own->limit = LIMIT + own->full % 3;
}

static void load(Own *own) {
    own->loads++;
    if (__builtin_expect(own->loads == own->limit, 0))
        empty(own);
}

static __attribute__((noinline, cold)) void turn(Own *own) {
    own->turns = 0;
    own->last = 0x1230;
}

/* The address may be in a register of the program's, which the rare part leaves as it is. */
static void note_last(Own *own, uint64_t address) {
    uint64_t turns = own->turns + 1;
    if (__builtin_expect(turns == LIMIT, 0)) {
        turn(own);
        return;
    }
    own->turns = turns;
    own->last = address;
}

static void store(Own *own, uint64_t address) {
    if (address & 8)
        own->low++;
    else
        own->high++;
    own->stores++;
}

/* Every other one is seen: an early return that changes a word, too. */
static void again(Own *own) {
    if (own->loads & 1) {
        own->full++;
        own->loads--;
        return;
    }
    own->full--;
    own->loads++;
}

static void count_load(void) {
    lathe_count(&loads, 1);
}

static void count_store(void) {
    lathe_count(&stores, 1);
}

static void end(Own *own) {
    add(own);
    bool agree = ended_loads == lathe_total(&loads) && ended_stores == lathe_total(&stores);
    lathe_print("own words of %lu accesses %s\n", ended_loads + ended_stores, agree ? "agree" : "differ");
}

static void start(Own *own) {
    ended_loads = ended_stores = 0;
    begin(own);
}

LATHE_HOOKS(LATHE_ON(LATHE_START, start, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_THREAD, begin, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_THREAD_END, add, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_END, end, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_LOAD, count_load), LATHE_ON(LATHE_STORE, count_store),
            LATHE_ON(LATHE_LOAD, load, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_LOAD, note_last, {LATHE_THREAD_OWN}, {LATHE_ADDRESS}),
            LATHE_ON(LATHE_STORE, store, {LATHE_THREAD_OWN}, {LATHE_ADDRESS}),
            LATHE_ON(LATHE_STORE, again, {LATHE_THREAD_OWN}));
