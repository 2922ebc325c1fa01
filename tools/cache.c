/* cache.c: simulates caches and a predictor of branches, and says which lines of the program miss how often.
 *
 * Writes cachegrind.out.PID, for cg_annotate: for each line what the events are that its second line names:
 *
 *     events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim
 *
 * instructions, and how many of them missed the first and the last cache; reads and writes of data, likewise; conditional branches, jumps and calls to computed
 * addresses, and how many were not predicted. What an instruction both reads and writes is one read. The sums are printed.
 *
 * Options: I1, D1, LL: a cache as BYTES/WAYS/LINE, such as D1=49152/12/64; out=NAME: another name for the file.
 *
 * Each thread has a first cache of instructions, one of data, and a predictor; the last cache is shared by all. They keep the lines that were used last. How often
 * something is done is known from the number of times that a block was executed: only misses are counted one by one. */
#include "costs.h"

enum { IR, I1MR, ILMR, DR, D1MR, DLMR, DW, D1MW, DLMW, BC, BCM, BI, BIM, EVENTS };

/* What is counted for one instruction. */
typedef struct Costs {
    uint64_t of[EVENTS];
} Costs;

static LatheMap misses = LATHE_MAP(Costs); /* by the addresses of instructions */

static const char *output; /* the option */

/* --------------------------------------------------------------------------------------------------------------- caches */

typedef struct Cache {
    uint64_t bytes, ways, line; /* the size of a line */
    uint64_t shift, mask;       /* address >> shift: the number of a line; & mask: the number of its set */
    uint64_t sets,
        start; /* address & sets: of which bytes of all sets, one behind the other, it is; & start: where its line begins */
    uint64_t *recent; /* where the line of each set begins that was used last: see recent_at */
    uint64_t *lines;  /* those of each set, the last used first */
} Cache;

enum { I1, D1, LL, CACHES };

static const char *const cache_names[CACHES] = {"I1", "D1", "LL"};
/* What they are; only the last one has lines itself. */
static Cache caches[CACHES] = {{.bytes = 32 << 10, .ways = 8, .line = 64},
                               {.bytes = 32 << 10, .ways = 8, .line = 64},
                               {.bytes = 8 << 20, .ways = 16, .line = 64}};

#define NO_LINE UINT64_MAX

static uint64_t sets_of(const Cache *c) {
    return c->mask + 1;
}

/* The word of an address's set. Lines have 16 bytes at least, so half as many are enough for a word, and to find it takes no shift by what is not known to the compiler. */
static uint64_t *recent_at(const Cache *c, uint64_t address) {
    return (uint64_t *)((char *)c->recent + (address & c->sets) / 2);
}

static bool is_recent(const Cache *c, uint64_t start) {
    return *recent_at(c, start) == start;
}

static size_t recent_bytes(const Cache *c) {
    return sets_of(c) * c->line / 2;
}

static void cache_clear(Cache *c) {
    memset(c->recent, 0xff, recent_bytes(c));
    memset(c->lines, 0xff, sets_of(c) * c->ways * sizeof(uint64_t));
}

static Cache cache_new(const Cache *like) {
    Cache c = *like;
    c.recent = lathe_alloc(recent_bytes(&c));
    c.lines = lathe_alloc(sets_of(&c) * c.ways * sizeof(uint64_t));
    cache_clear(&c);
    return c;
}

static void cache_free(Cache *c) {
    lathe_free(c->recent);
    lathe_free(c->lines);
}

static bool cache_has(const Cache *c, uint64_t line) {
    const uint64_t *lines = c->lines + (line & c->mask) * c->ways;
    for (uint64_t way = 0; way < c->ways; way++)
        if (lines[way] == line)
            return true;
    return false;
}

/* Uses a line. True: the cache has it; false: it takes the place of the one that was not used for the longest time. */
static bool cache_use(Cache *c, uint64_t line) {
    uint64_t set = line & c->mask, *lines = c->lines + set * c->ways, way = 0;
    while (way < c->ways - 1 && lines[way] != line)
        way++;
    bool hit = lines[way] == line;
    for (; way; way--)
        lines[way] = lines[way - 1];
    lines[0] = line;
    *recent_at(c, line << c->shift) = line << c->shift;
    return hit;
}

/* Whoever uses a set of the last cache holds one of these. */
enum { LL_LOCKS = 64 };
static LatheLock ll_locks[LL_LOCKS];

static bool last_use(uint64_t line) {
    LatheLock *lock = &ll_locks[(line & caches[LL].mask) % LL_LOCKS];
    lathe_lock(lock);
    bool hit = cache_use(&caches[LL], line);
    lathe_unlock(lock);
    return hit;
}

/* An access of the last cache, which may be to two of its lines. */
static bool last_has(uint64_t address, uint64_t bytes) {
    uint64_t first = address >> caches[LL].shift, last = (address + bytes - 1) >> caches[LL].shift;
    bool hit = last_use(first);
    return last == first ? hit : last_use(last) & hit;
}

/* ---------------------------------------------------------------------------------------------------------------- sums */

/* Sums by number: an array that grows. Each thread has its own ones. */
typedef struct Sums {
    uint64_t *at, room;
} Sums;

static void sums_grow(Sums *sums, uint64_t number) {
    enum { FEWEST = 4096 };
    if (number < sums->room)
        return;
    sums->room = 2 * number < FEWEST ? FEWEST : 2 * number;
    sums->at = lathe_resize(sums->at, sums->room * sizeof(*sums->at));
}

/* Makes room for a number in sums of the thread's own. */
static __attribute__((noinline)) void sums_reach(Sums *sums, uint64_t number) {
    if (number < sums->room)
        return;
    lathe_lock(&live_lock);
    sums_grow(sums, number);
    lathe_unlock(&live_lock);
}

static void sums_add(Sums *to, const Sums *from) {
    if (from->room)
        sums_grow(to, from->room - 1);
    for (uint64_t i = 0; i < from->room; i++)
        to->at[i] += from->at[i];
}

static void sums_clear(Sums *sums) {
    if (sums->room)
        memset(sums->at, 0, sums->room * sizeof(*sums->at));
}

static void sums_free(Sums *sums) {
    lathe_free(sums->at);
    *sums = (Sums){0};
}

/* -------------------------------------------------------------------------------------------------------------- threads */

enum { COUNTERS = 16384, HISTORIES = 128, TARGETS = 512 };

/* What each thread has. */
typedef struct Own {
    Sums runs; /* instructions that were executed, by block */
    Cache i1, d1;
    uint8_t *counters; /* COUNTERS of them, from 0 (surely not taken) to 3 (surely taken) */
    uint64_t history;  /* of the last seven branches: a bit for each one, set if it was taken */
    uint64_t *targets; /* TARGETS of them: where jumps have led to last */
} Own;

_Static_assert(sizeof(Own) <= LATHE_OWN_WORDS * sizeof(uint64_t), "each thread has so much");

static Sums ended; /* of threads that have ended */

static void begin(Own *own) {
    *own = (Own){.i1 = cache_new(&caches[I1]), .d1 = cache_new(&caches[D1])};
    own->counters = lathe_alloc(COUNTERS);
    own->targets = lathe_alloc(TARGETS * sizeof(uint64_t));
    sums_reach(&own->runs, 0);
    live_add(own);
}

static void end_thread(Own *own) {
    lathe_lock(&live_lock);
    live_remove(own);
    sums_add(&ended, &own->runs);
    lathe_unlock(&live_lock);
    sums_free(&own->runs);
    cache_free(&own->i1);
    cache_free(&own->d1);
    lathe_free(own->counters);
    lathe_free(own->targets);
}

/* -------------------------------------------------------------------------------------------------------- instructions */

static void miss(Costs *costs, unsigned event) {
    __atomic_fetch_add(&costs->of[event], 1, __ATOMIC_RELAXED);
}

/* The lines of an instruction, without the one that the instruction before it was in. */
static bool fetch_hits(Cache *c, uint64_t pc, uint64_t size, uint64_t *before) {
    uint64_t first = pc >> c->shift, last = (pc + size - 1) >> c->shift;
    bool hit = first == *before || cache_use(c, first);
    if (last != first)
        hit &= cache_use(c, last);
    *before = last;
    return hit;
}

static void fetch(Own *own, const Block *b, uint64_t pc) {
    uint64_t before = NO_LINE;
    for (uint64_t i = 0; i < b->count; pc += b->insn[i++].size) {
        uint64_t size = b->insn[i].size;
        if (fetch_hits(&own->i1, pc, size, &before))
            continue;
        Costs *costs = lathe_map_at(&misses, pc);
        miss(costs, I1MR);
        if (!last_has(pc, size))
            miss(costs, ILMR);
    }
}

/* Words of a block's site: besides the block, where its first and its last line begin. */
enum { BLOCK_NUMBER, BLOCK_ITSELF, BLOCK_FIRST, BLOCK_LAST };

/* A block of three lines or more is never looked for among those that were used last. */
static void set_lines(const Cache *c, uint64_t *site, const Block *b, uint64_t pc) {
    uint64_t end = pc;
    for (uint64_t i = 0; i < b->count; i++)
        end += b->insn[i].size;
    site[BLOCK_FIRST] = pc & c->start;
    site[BLOCK_LAST] = (end - 1) & c->start;
    if (site[BLOCK_LAST] - site[BLOCK_FIRST] > c->line)
        site[BLOCK_LAST] = 1;
}

/* Most blocks that are not recent are in the cache: then their instructions do not matter. */
static bool fetch_lines(Cache *c, const uint64_t *site) {
    uint64_t first = site[BLOCK_FIRST] >> c->shift, last = site[BLOCK_LAST] >> c->shift;
    if (last < first || !cache_has(c, first) || !cache_has(c, last))
        return false;
    cache_use(c, first);
    if (last != first)
        cache_use(c, last);
    return true;
}

static __attribute__((noinline)) void execute_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t count) {
    if (!__atomic_load_n(&site[BLOCK_NUMBER], __ATOMIC_ACQUIRE)) {
        site[BLOCK_ITSELF] = (uint64_t)block_at(pc, count);
        set_lines(&own->i1, site, (const Block *)site[BLOCK_ITSELF], pc);
        __atomic_store_n(&site[BLOCK_NUMBER], ((Block *)site[BLOCK_ITSELF])->number, __ATOMIC_RELEASE);
    }
    const Block *b = (const Block *)site[BLOCK_ITSELF];
    sums_reach(&own->runs, b->number);
    own->runs.at[b->number] += count;
    if (!fetch_lines(&own->i1, site))
        fetch(own, b, pc);
}

/* Lines that were used last in their sets stay where they are. Most blocks have one or two. A site that is new has zeros, and no block is in such a line. */
static void execute(Own *own, uint64_t *site, uint64_t pc, uint64_t count) {
    uint64_t number = site[BLOCK_NUMBER];
    if (number >= own->runs.room || !is_recent(&own->i1, site[BLOCK_FIRST]) || !is_recent(&own->i1, site[BLOCK_LAST]))
        execute_slowly(own, site, pc, count);
    else
        own->runs.at[number] += count;
}

/* ----------------------------------------------------------------------------------------------------------------- data */

/* Each instruction that misses has its costs at hand. */
static Costs *costs_of(uint64_t *site, uint64_t pc) {
    if (!site[0])
        site[0] = (uint64_t)lathe_map_at(&misses, pc);
    return (Costs *)site[0];
}

/* What is larger than a line is as large as one. */
static uint64_t clip(uint64_t bytes, const Cache *c) {
    return bytes < 1 ? 1 : bytes > c->line ? c->line : bytes;
}

/* `event`: D1MR or D1MW; that of the last cache follows it. */
static __attribute__((noinline)) void access(Own *own, uint64_t *site, uint64_t pc, uint64_t address, uint64_t bytes,
                                             unsigned event) {
    Cache *c = &own->d1;
    bytes = clip(bytes, c);
    uint64_t first = address >> c->shift, last = (address + bytes - 1) >> c->shift;
    bool hit = cache_use(c, first);
    if (last != first)
        hit &= cache_use(c, last);
    if (hit)
        return;
    miss(costs_of(site, pc), event);
    if (!last_has(address, bytes))
        miss(costs_of(site, pc), event + 1);
}

static bool hits(const Own *own, uint64_t address, uint64_t bytes) {
    uint64_t start = address & own->d1.start;
    return ((address + bytes - 1) & own->d1.start) == start && is_recent(&own->d1, start);
}

static void load(Own *own, uint64_t *site, uint64_t pc, uint64_t address, uint64_t bytes) {
    if (!hits(own, address, bytes))
        access(own, site, pc, address, bytes, D1MR);
}

static void store(Own *own, uint64_t *site, uint64_t pc, uint64_t address, uint64_t bytes) {
    if (!hits(own, address, bytes))
        access(own, site, pc, address, bytes, D1MW);
}

/* A repeated string instruction reads and writes as often as it has passes. */
static void load_string(uint64_t *site, uint64_t pc) {
    miss(costs_of(site, pc), DR);
}

static void store_string(uint64_t *site, uint64_t pc) {
    miss(costs_of(site, pc), DW);
}

/* ------------------------------------------------------------------------------------------------------------- branches */

static __attribute__((noinline)) void not_predicted(uint64_t *site, uint64_t pc, unsigned event) {
    miss(costs_of(site, pc), event);
}

/* Which counter predicts a branch depends on its address and on the last branches. */
static void branch(Own *own, uint64_t *site, uint64_t pc, uint64_t taken) {
    static const uint8_t next[2][4] = {{0, 0, 1, 2}, {1, 2, 3, 3}};
    uint64_t history = own->history;
    uint8_t *counter = &own->counters[(pc ^ history * HISTORIES) % COUNTERS];
    uint64_t was = *counter;
    own->history = (history << 1 | taken) % HISTORIES;
    *counter = next[taken][was];
    if (was / 2 != taken)
        not_predicted(site, pc, BCM);
}

static void jump(Own *own, uint64_t *site, uint64_t pc, uint64_t target) {
    uint64_t *last = &own->targets[pc % TARGETS];
    if (*last != target)
        not_predicted(site, pc, BIM);
    *last = target;
}

/* Words of a call's site behind that of its costs. */
enum { CALL_KIND = 1, CALL_NEW = 0, CALL_DIRECT, CALL_INDIRECT };

static __attribute__((noinline)) void call_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t target) {
    LatheInsn insn;
    site[CALL_KIND] = lathe_insn(pc, &insn) && insn.computed ? CALL_INDIRECT : CALL_DIRECT;
    if (site[CALL_KIND] == CALL_INDIRECT)
        jump(own, site, pc, target);
}

static void call(Own *own, uint64_t *site, uint64_t pc, uint64_t target) {
    if (site[CALL_KIND] != CALL_DIRECT)
        call_slowly(own, site, pc, target);
}

/* --------------------------------------------------------------------------------------------------------------- report */

static LatheMap sums = LATHE_MAP(Costs); /* by the addresses of instructions */

/* What an instruction has done each time that it was executed. */
static void add_insn(uint64_t pc, const LatheInsn *insn, uint64_t times) {
    Costs *costs = lathe_map_at(&sums, pc);
    bool counted = insn->classes & LATHE_CLASS_STRING; /* its accesses are */
    bool jumps = insn->computed && insn->classes & (LATHE_CLASS_JUMP | LATHE_CLASS_CALL);
    costs->of[IR] += times;
    costs->of[DR] += counted ? 0 : times * insn->loads;
    costs->of[DW] += counted ? 0 : times * (insn->stores - insn->updates);
    costs->of[BC] += insn->classes & LATHE_CLASS_BRANCH ? times : 0;
    costs->of[BI] += jumps ? times : 0;
}

/* If the code of a block has changed, it may have had another number of instructions at times: the sum of instructions is right in any case. */
static void add_block(const Block *b, uint64_t pc, uint64_t executed) {
    uint64_t times = b->count ? executed / b->count : 0;
    ((Costs *)lathe_map_at(&sums, pc))->of[IR] += executed - times * b->count;
    for (uint64_t i = 0; i < b->count; pc += b->insn[i++].size)
        add_insn(pc, &b->insn[i], times);
}

static Sums all_runs(void) {
    Sums runs = {0};
    lathe_lock(&live_lock);
    sums_add(&runs, &ended);
    for (size_t i = 0; i < live.count; i++)
        sums_add(&runs, &((Own **)live.at)[i]->runs);
    lathe_unlock(&live_lock);
    return runs;
}

static void collect(void) {
    Sums runs = all_runs();
    lathe_map_clear(&sums);
    for (LatheWalk w = {0}; lathe_map_next(&blocks, &w);) {
        const Block *b = w.value;
        if (b->number < runs.room && runs.at[b->number])
            add_block(b, w.key, runs.at[b->number]);
    }
    for (LatheWalk w = {0}; lathe_map_next(&misses, &w);) {
        Costs *costs = lathe_map_at(&sums, w.key);
        for (unsigned i = 0; i < EVENTS; i++)
            costs->of[i] += ((const Costs *)w.value)->of[i];
    }
    items_begin();
    for (LatheWalk w = {0}; lathe_map_next(&sums, &w);)
        item_add(w.key, w.value);
    items_sort();
    sums_free(&runs);
}

static void write_costs(LatheFile *out, const Costs *costs) {
    for (unsigned i = 0; i < EVENTS; i++)
        lathe_fprint(out, " %lu", costs->of[i]);
    lathe_fprint(out, "\n");
}

static void costs_add(Costs *to, const Costs *from) {
    for (unsigned i = 0; i < EVENTS; i++)
        to->of[i] += from->of[i];
}

/* One line for all items of a line. Returns how many items these are. */
static size_t write_line(LatheFile *out, const Item *item, size_t left, Costs *total) {
    Costs line = {{0}};
    size_t count = 0;
    for (; count < left && same_line(item, &item[count]); count++)
        costs_add(&line, item[count].what);
    lathe_fprint(out, "%lu", item->line);
    write_costs(out, &line);
    costs_add(total, &line);
    return count;
}

static Costs write_items(LatheFile *out) {
    const Item *item = items.at, *last = NULL;
    Costs total = {{0}};
    for (size_t i = 0; i < items.count;) {
        if (!last || last->function != item[i].function || last->file != item[i].file)
            lathe_fprint(out, "fl=%s\nfn=%s\n", item[i].file->text, item[i].function->name->text);
        last = &item[i];
        i += write_line(out, &item[i], items.count - i, &total);
    }
    return total;
}

static void print_totals(const Costs *t) {
    const uint64_t *of = t->of;
    lathe_print("%15s %15s %15s %15s\n", "", "all", "missed first", "missed last");
    lathe_print("%-15s %15lu %15lu %15lu\n", "instructions", of[IR], of[I1MR], of[ILMR]);
    lathe_print("%-15s %15lu %15lu %15lu\n", "reads", of[DR], of[D1MR], of[DLMR]);
    lathe_print("%-15s %15lu %15lu %15lu\n", "writes", of[DW], of[D1MW], of[DLMW]);
    lathe_print("%15s %15s %15s\n", "", "all", "not predicted");
    lathe_print("%-15s %15lu %15lu\n", "branches", of[BC], of[BCM]);
    lathe_print("%-15s %15lu %15lu\n", "computed jumps", of[BI], of[BIM]);
}

static void end(void) {
    LatheFile *out = lathe_open(output ? output : "cachegrind.out.%p");
    collect();
    for (unsigned i = 0; i < CACHES; i++)
        lathe_fprint(out, "desc: %s cache: %lu B, %lu B, %lu-way associative\n", cache_names[i], caches[i].bytes,
                     caches[i].line, caches[i].ways);
    write_command(out);
    lathe_fprint(out, "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim\n");
    Costs total = write_items(out);
    lathe_fprint(out, "summary:");
    write_costs(out, &total);
    lathe_close(out);
    print_totals(&total);
}

/* --------------------------------------------------------------------------------------------------------------- begin */

/* Reads a number that ends with a certain character. */
static bool read_number(const char **text, char end, uint64_t *number) {
    const char *at = *text;
    for (*number = 0; *at >= '0' && *at <= '9' && *number < 1ul << 32; at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    bool good = at > *text && *at == end && *number;
    *text = at + 1;
    return good;
}

static bool is_power_of_two(uint64_t number) {
    return !(number & (number - 1));
}

static void set_up(Cache *c, const char *name) {
    const char *text = lathe_option(name), *at = text;
    if (text && !(read_number(&at, '/', &c->bytes) && read_number(&at, '/', &c->ways) && read_number(&at, 0, &c->line)))
        lathe_fail("%s=%s: a cache is BYTES/WAYS/LINE, such as 32768/8/64\n", name, text);
    uint64_t sets = c->bytes / c->ways / c->line;
    if (!sets || sets * c->ways * c->line != c->bytes || !is_power_of_two(sets) || !is_power_of_two(c->line) ||
        c->line < 16)
        lathe_fail("%s=%s: BYTES is WAYS times LINE times a power of two, and LINE is a power of two from 16 on\n",
                   name, text);
    c->mask = sets - 1;
    c->sets = c->mask * c->line;
    c->start = -c->line;
    c->shift = (uint64_t)__builtin_ctzl(c->line);
}

/* A copy of the program has the caches of the one that made it, but nothing has missed yet, and its only thread is this one. */
static void begin_copy(Own *own) {
    lathe_vector_clear(&live);
    live_add(own);
    sums_clear(&own->runs);
    sums_free(&ended);
    for (LatheWalk w = {0}; lathe_map_next(&misses, &w);)
        *(Costs *)w.value = (Costs){{0}};
}

static void start(Own *own) {
    if (own->counters) {
        begin_copy(own);
        return;
    }
    output = lathe_option("out");
    for (unsigned i = 0; i < CACHES; i++)
        set_up(&caches[i], cache_names[i]);
    caches[LL] = cache_new(&caches[LL]);
    begin(own);
}

#define STRINGS ((LatheWhere){.classes = LATHE_CLASS_STRING})

LATHE_HOOKS(LATHE_ON(LATHE_START, start, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_THREAD, begin, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_THREAD_END, end_thread, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_END, end),
            LATHE_ON(LATHE_BLOCK, execute, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_COUNT}),
            LATHE_ON(LATHE_LOAD, load, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_ADDRESS}, {LATHE_BYTES}),
            LATHE_ON(LATHE_STORE, store, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_ADDRESS}, {LATHE_BYTES}),
            LATHE_WHERE(LATHE_LOAD, load_string, STRINGS, {LATHE_SITE}, {LATHE_PC}),
            LATHE_WHERE(LATHE_STORE, store_string, STRINGS, {LATHE_SITE}, {LATHE_PC}),
            LATHE_ON(LATHE_BRANCH, branch, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_TAKEN}),
            LATHE_ON(LATHE_JUMP, jump, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_TARGET}),
            LATHE_ON(LATHE_CALL, call, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_TARGET}));
