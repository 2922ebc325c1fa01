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
 * Each thread has a first cache of instructions, one of data, and a predictor; the last cache is shared by all. They keep the lines that were used last: those of instructions have a time
 * for that, which grows with each use, the others are in the order in which they were used. How often
 * something is done is known from the number of times that a block was executed: only misses are counted one by one. */
#include "costs.h"

enum { IR, I1MR, ILMR, DR, D1MR, DLMR, DW, D1MW, DLMW, BC, BCM, BI, BIM, EVENTS };

/* What is counted for one instruction. */
typedef struct Costs {
    uint64_t of[EVENTS];
} Costs;

static LatheMap misses = LATHE_MAP(Costs); /* by the addresses of instructions */

static bool threads; /* the program has several, or is about to: until then nothing needs a lock */

static const char *output; /* the option */

/* --------------------------------------------------------------------------------------------------------------- caches */

typedef struct Cache {
    uint64_t bytes, ways, line; /* the size of a line */
    uint64_t shift, mask;       /* address >> shift: the number of a line; & mask: the number of its set */
} Cache;

enum { I1, D1, LL, CACHES };

static const char *const cache_names[CACHES] = {"I1", "D1", "LL"};
static Cache caches[CACHES] = {{.bytes = 32 << 10, .ways = 8, .line = 64},
                               {.bytes = 32 << 10, .ways = 8, .line = 64},
                               {.bytes = 8 << 20, .ways = 16, .line = 64}};

#define NO_LINE UINT64_MAX
#define NOT_RECENT (1ul << 63) /* no address is near */

static uint64_t sets_of(const Cache *c) {
    return c->mask + 1;
}

/* The lines of all sets, those of each one in the order in which they were used, the last one first. */
static uint64_t *new_lines(const Cache *c) {
    size_t bytes = sets_of(c) * c->ways * sizeof(uint64_t);
    return memset(lathe_alloc(bytes), 0xff, bytes);
}

/* A line comes in front of the others of its set. True: the set had it; false: it takes the place of the one that was not used for the longest time. */
static inline bool set_use(uint64_t *lines, uint64_t ways, uint64_t line) {
    uint64_t before = lines[0];
    lines[0] = line;
    for (uint64_t way = 1; before != line && way < ways; way++) {
        uint64_t here = lines[way];
        lines[way] = before;
        before = here;
    }
    return before == line;
}

static bool cache_use(const Cache *c, uint64_t *all_lines, uint64_t line) {
    return set_use(all_lines + (line & c->mask) * c->ways, c->ways, line);
}

/* Whoever uses a set of the last cache holds one of these. */
enum { LL_LOCKS = 64 };
static LatheLock ll_locks[LL_LOCKS];
static uint64_t *ll_lines;

static bool last_use(uint64_t line) {
    if (!threads)
        return cache_use(&caches[LL], ll_lines, line);
    LatheLock *lock = &ll_locks[(line & caches[LL].mask) % LL_LOCKS];
    lathe_lock(lock);
    bool hit = cache_use(&caches[LL], ll_lines, line);
    lathe_unlock(lock);
    return hit;
}

/* An access of the last cache, which may be to two of its lines. */
static bool last_has(uint64_t address, uint64_t bytes) {
    uint64_t first = address >> caches[LL].shift, last = (address + bytes - 1) >> caches[LL].shift;
    bool hit = last_use(first);
    return last == first ? hit : last_use(last) & hit;
}

/* -------------------------------------------------------------------------------------------------------------- threads */

enum { COUNTERS = 16384, HISTORIES = 128, TARGETS = 512, RECENT = 64, RECENT_BYTES = 64, USUAL_WAYS = 8, STATES = 4 };
enum { LINES_MAX = 1 << 22 }; /* of code */

/* What each thread has. */
typedef struct Own {
    uint64_t clock; /* grows with each use */
    /* The cache of instructions. The lines of code that the program has executed are numbered, from 1 on. */
    uint64_t *used; /* of each line: what the clock was when it was used last; 0: the cache does not have it */
    uint64_t *i1;   /* the numbers of the lines in each set, in no order; 0: none */
    /* The cache of data. */
    uint64_t *d1;   /* the lines of each set, the one that was used last first */
    uint64_t usual; /* its mask, if it has USUAL_WAYS and lines of RECENT_BYTES, and at least RECENT sets; else 0 */
    uint64_t recent
        [RECENT]; /* addresses, a multiple of RECENT_BYTES: these bytes are of the line that was used last in its set */
    /* The predictor. */
    uint64_t history; /* of the last seven branches: HISTORIES times a bit for each one, set if it was taken */
    uint16_t steps[2 * STATES]; /* see step_of */
    uint8_t counters[COUNTERS]; /* twice their states, from 0 (surely not taken) to 3 (surely taken) */
    uint64_t targets[TARGETS];  /* where jumps have led to last */
} Own;

_Static_assert(sizeof(Own) <= LATHE_OWN_WORDS * sizeof(uint64_t), "each thread has so much");

enum { NOT_PREDICTED = 0x100 };

/* What becomes of a counter, twice its state, and NOT_PREDICTED if it has predicted something else. */
static uint16_t step_of(unsigned state, bool taken) {
    unsigned next = taken ? state + (state < STATES - 1) : state - (state > 0);
    return (uint16_t)(2 * next + (state / 2 != taken ? NOT_PREDICTED : 0));
}

static void begin(Own *own) {
    const Cache *c = &caches[D1];
    bool usual = c->ways == USUAL_WAYS && c->line == RECENT_BYTES && sets_of(c) >= RECENT;
    *own = (Own){.d1 = new_lines(c), .usual = usual ? c->mask : 0};
    own->used = lathe_alloc(LINES_MAX * sizeof(uint64_t));
    own->i1 = lathe_alloc(sets_of(&caches[I1]) * caches[I1].ways * sizeof(uint64_t));
    for (unsigned i = 0; i < RECENT; i++)
        own->recent[i] = NOT_RECENT;
    for (unsigned i = 0; i < 2 * STATES; i++)
        own->steps[i] = step_of(i / 2, i % 2);
}

static void end_thread(Own *own) {
    lathe_free(own->used);
    lathe_free(own->i1);
    lathe_free(own->d1);
}

/* Before a second thread begins, in the first one. */
static void call_system(uint64_t number) {
    const char *name = lathe_syscall_name(number);
    if (name && !strncmp(name, "clone", 5))
        threads = true;
}

/* -------------------------------------------------------------------------------------------------------- instructions */

static LatheTable runs; /* how often a block of so many instructions was executed */

static void count_block(uint64_t pc, uint64_t count) {
    lathe_count_in(&runs, pc, count, 0, 1);
}

static void miss(Costs *costs, unsigned event) {
    if (threads)
        __atomic_fetch_add(&costs->of[event], 1, __ATOMIC_RELAXED);
    else
        costs->of[event]++;
}

static LatheMap line_numbers = LATHE_MAP(uint64_t);
static LatheLock lines_lock;

static uint64_t number_of_line(uint64_t line) {
    lathe_lock(&lines_lock);
    uint64_t *number = lathe_map_at(&line_numbers, line);
    if (!*number)
        *number = line_numbers.count;
    lathe_unlock(&lines_lock);
    if (*number >= LINES_MAX)
        lathe_fail("the program has more than %d lines of code", LINES_MAX);
    return *number;
}

/* The line, by its number, that is to leave a set: an empty place is as if it was never used. */
static uint64_t *oldest(const Own *own, uint64_t set) {
    uint64_t *lines = own->i1 + set * caches[I1].ways, *best = lines;
    for (uint64_t way = 1; way < caches[I1].ways; way++)
        if (own->used[lines[way]] < own->used[*best])
            best = &lines[way];
    return best;
}

static bool fetch_line(Own *own, uint64_t line) {
    uint64_t number = number_of_line(line);
    bool hit = own->used[number];
    if (!hit) {
        uint64_t *place = oldest(own, line & caches[I1].mask);
        own->used[*place] = 0;
        *place = number;
    }
    own->used[number] = ++own->clock;
    return hit;
}

/* The lines of an instruction, without the one that the instruction before it was in. */
static bool fetch_hits(Own *own, uint64_t pc, uint64_t size, uint64_t *before) {
    uint64_t shift = caches[I1].shift, first = pc >> shift, last = (pc + size - 1) >> shift;
    bool hit = first == *before || fetch_line(own, first);
    if (last != first)
        hit &= fetch_line(own, last);
    *before = last;
    return hit;
}

static void fetch(Own *own, const Block *b, uint64_t pc) {
    uint64_t before = NO_LINE;
    for (uint64_t i = 0; i < b->count; pc += b->insn[i++].size) {
        uint64_t size = b->insn[i].size;
        if (fetch_hits(own, pc, size, &before))
            continue;
        Costs *costs = lathe_map_at(&misses, pc);
        miss(costs, I1MR);
        if (!last_has(pc, size))
            miss(costs, ILMR);
    }
}

/* The lines of a block: where in `used` the word of each one is, as bytes. */
typedef struct Lines {
    uint64_t count, at[];
} Lines;

/* Words of a block's site: the first and the last line, if these are all, and are of different sets, or the same; else 0. And all of them. */
enum { BLOCK_FIRST, BLOCK_LAST, BLOCK_LINES };

static const Lines *lines_of(const Block *b, uint64_t pc) {
    uint64_t shift = caches[I1].shift, end = pc;
    for (uint64_t i = 0; i < b->count; i++)
        end += b->insn[i].size;
    uint64_t first = pc >> shift, count = b->count ? ((end - 1) >> shift) - first + 1 : 0;
    Lines *lines = lathe_alloc(sizeof(Lines) + count * sizeof(uint64_t));
    for (uint64_t i = 0; i < count; i++)
        lines->at[i] = number_of_line(first + i) * sizeof(uint64_t);
    lines->count = count;
    return lines;
}

static void set_lines(uint64_t *site, const Lines *lines) {
    site[BLOCK_LINES] = (uint64_t)lines;
    if (!lines->count || lines->count > (caches[I1].mask ? 2 : 1))
        return;
    site[BLOCK_FIRST] = lines->at[0];
    site[BLOCK_LAST] = lines->at[lines->count - 1];
}

static uint64_t *used_at(const Own *own, uint64_t bytes) {
    return (uint64_t *)((char *)own->used + bytes);
}

/* False: the cache does not have all of them. */
static bool use_lines(Own *own, const Lines *lines) {
    for (uint64_t i = 0; i < lines->count; i++)
        if (!*used_at(own, lines->at[i]))
            return false;
    for (uint64_t i = 0; i < lines->count; i++)
        *used_at(own, lines->at[i]) = ++own->clock;
    return true;
}

static __attribute__((noinline)) void execute_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t count) {
    if (site[BLOCK_LINES] && use_lines(own, (const Lines *)site[BLOCK_LINES]))
        return;
    const Block *b = block_at(pc, count);
    if (!site[BLOCK_LINES])
        set_lines(site, lines_of(b, pc));
    fetch(own, b, pc);
}

/* Most blocks have one line or two, and the cache has them. No line has number 0. */
static void execute(Own *own, uint64_t *site, uint64_t pc, uint64_t count) {
    uint64_t *first = used_at(own, site[BLOCK_FIRST]), *last = used_at(own, site[BLOCK_LAST]);
    if (!*first || !*last) {
        execute_slowly(own, site, pc, count);
        return;
    }
    *first = *last = ++own->clock;
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

static uint64_t *recent_at(Own *own, uint64_t address) {
    return &own->recent[address / RECENT_BYTES % RECENT];
}

/* Whatever is in these places was of the same set, if a way of the cache has as many bytes as they stand for. Otherwise nothing is ever recent. */
static void set_recent(Own *own, uint64_t line) {
    const Cache *c = &caches[D1];
    uint64_t start = line << c->shift;
    if (sets_of(c) * c->line < RECENT * RECENT_BYTES)
        return;
    for (uint64_t done = 0; done + RECENT_BYTES <= c->line; done += RECENT_BYTES)
        *recent_at(own, start + done) = start + done;
}

/* Uses a line. True: the cache has it. */
static bool data_use(Own *own, uint64_t line) {
    set_recent(own, line);
    return cache_use(&caches[D1], own->d1, line);
}

static __attribute__((noinline)) void missed(uint64_t *site, uint64_t pc, uint64_t address, uint64_t bytes,
                                             unsigned event) {
    miss(costs_of(site, pc), event);
    if (!last_has(address, bytes))
        miss(costs_of(site, pc), event + 1);
}

/* `event`: D1MR or D1MW; that of the last cache follows it. */
static __attribute__((noinline)) void access_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t address,
                                                    uint64_t bytes, unsigned event) {
    const Cache *c = &caches[D1];
    bytes = clip(bytes, c);
    uint64_t first = address >> c->shift, last = (address + bytes - 1) >> c->shift;
    bool hit = data_use(own, first);
    if (last != first)
        hit &= data_use(own, last);
    if (!hit)
        missed(site, pc, address, bytes, event);
}

static __attribute__((noinline)) void access(Own *own, uint64_t *site, uint64_t pc, uint64_t address, uint64_t bytes,
                                             unsigned event) {
    uint64_t line = address / RECENT_BYTES, off = address % RECENT_BYTES;
    if (__builtin_expect(!own->usual || off + bytes > RECENT_BYTES, false)) {
        access_slowly(own, site, pc, address, bytes, event);
        return;
    }
    *recent_at(own, address) = address - off;
    if (!set_use(own->d1 + (line & own->usual) * USUAL_WAYS, USUAL_WAYS, line))
        missed(site, pc, address, bytes, event);
}

/* To use a line again that was used last in its set changes nothing. */
static bool is_recent(Own *own, uint64_t address, uint64_t bytes) {
    return address - *recent_at(own, address) <= RECENT_BYTES - bytes && bytes <= RECENT_BYTES;
}

static void load(Own *own, uint64_t *site, uint64_t pc, uint64_t address, uint64_t bytes) {
    if (__builtin_expect(!is_recent(own, address, bytes), false))
        access(own, site, pc, address, bytes, D1MR);
}

static void store(Own *own, uint64_t *site, uint64_t pc, uint64_t address, uint64_t bytes) {
    if (__builtin_expect(!is_recent(own, address, bytes), false))
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
    uint32_t history = (uint32_t)own->history, at = ((uint32_t)pc ^ history) % COUNTERS;
    uint32_t step = own->steps[own->counters[at] + taken];
    own->history = (2 * history + (uint32_t)taken * HISTORIES) % COUNTERS;
    own->counters[at] = (uint8_t)step;
    if (step >= NOT_PREDICTED)
        not_predicted(site, pc, BCM);
}

static __attribute__((noinline)) void jump_elsewhere(Own *own, uint64_t *site, uint64_t pc, uint64_t target) {
    own->targets[pc % TARGETS] = target;
    not_predicted(site, pc, BIM);
}

static void jump(Own *own, uint64_t *site, uint64_t pc, uint64_t target) {
    if (own->targets[pc % TARGETS] != target)
        jump_elsewhere(own, site, pc, target);
}

/* Words of a call's site behind that of its costs. */
enum { CALL_KIND = 1, CALL_NEW = 0, CALL_DIRECT, CALL_INDIRECT };

static __attribute__((noinline)) void call_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t target) {
    LatheInsn insn;
    if (!site[CALL_KIND])
        site[CALL_KIND] = lathe_insn(pc, &insn) && insn.computed ? CALL_INDIRECT : CALL_DIRECT;
    if (site[CALL_KIND] == CALL_INDIRECT)
        jump(own, site, pc, target);
}

static void call(Own *own, uint64_t *site, uint64_t pc, uint64_t target) {
    if (site[CALL_KIND] != CALL_DIRECT && own->targets[pc % TARGETS] != target)
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

/* Instructions that were executed, by the blocks that they were of. */
static LatheMap executed = LATHE_MAP(uint64_t);

static void sum_runs(void) {
    lathe_map_clear(&executed);
    for (LatheRow r = {0}; lathe_table_next(&runs, &r);)
        *(uint64_t *)lathe_map_at(&executed, r.key[0]) += r.key[1] * r.total;
}

static void collect(void) {
    sum_runs();
    lathe_map_clear(&sums);
    for (LatheWalk w = {0}; lathe_map_next(&blocks, &w);) {
        const uint64_t *insns = lathe_map_find(&executed, w.key);
        if (insns)
            add_block(w.value, w.key, *insns);
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
    c->shift = (uint64_t)__builtin_ctzl(c->line);
}

/* A copy of the program has the caches of the one that made it, but nothing has missed yet. */
static void begin_copy(void) {
    for (LatheWalk w = {0}; lathe_map_next(&misses, &w);)
        *(Costs *)w.value = (Costs){{0}};
}

static void start(Own *own) {
    if (own->used) {
        begin_copy();
        return;
    }
    output = lathe_option("out");
    for (unsigned i = 0; i < CACHES; i++)
        set_up(&caches[i], cache_names[i]);
    ll_lines = new_lines(&caches[LL]);
    threads = false;
    begin(own);
}

#define STRINGS ((LatheWhere){.classes = LATHE_CLASS_STRING})

LATHE_HOOKS(LATHE_ON(LATHE_SYSCALL, call_system, {LATHE_NUMBER}), LATHE_ON(LATHE_START, start, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_THREAD, begin, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_THREAD_END, end_thread, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_END, end),
            LATHE_ON(LATHE_BLOCK, count_block, {LATHE_PC}, {LATHE_COUNT}),
            LATHE_ON(LATHE_BLOCK, execute, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_COUNT}),
            LATHE_ON(LATHE_LOAD, load, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_ADDRESS}, {LATHE_BYTES}),
            LATHE_ON(LATHE_STORE, store, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_ADDRESS}, {LATHE_BYTES}),
            LATHE_WHERE(LATHE_LOAD, load_string, STRINGS, {LATHE_SITE}, {LATHE_PC}),
            LATHE_WHERE(LATHE_STORE, store_string, STRINGS, {LATHE_SITE}, {LATHE_PC}),
            LATHE_ON(LATHE_BRANCH, branch, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_TAKEN}),
            LATHE_ON(LATHE_JUMP, jump, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_TARGET}),
            LATHE_ON(LATHE_CALL, call, {LATHE_THREAD_OWN}, {LATHE_SITE}, {LATHE_PC}, {LATHE_TARGET}));
