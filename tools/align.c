/* align.c: accesses to memory at addresses that are no multiple of their size: how many there are, and where.
 *
 *     $ lathe run --tool=align -- ./program
 *     120 of 61022 loads and 4 of 30211 stores are not aligned
 *            times     bytes  access  place
 *              120         8  load    0x401152 sum+0x12 (/home/me/program) sum.c:17
 *                4         4  store   0x401190 main+0x20 (/home/me/program) main.c:9
 *
 * The size is that of the access; of one that is no power of two, such as 10, it is the next smaller power of two. Options: top=N: so many places are listed
 * (20); out=FILE: where to, %p in it being the number of the process (standard error). */
#include <lathe/tool.h>

typedef struct Place {
    uint64_t pc, bytes;
    const char *access;
    uint64_t *site;
    uint64_t times;
} Place;

/* Words of a site: how often the access was not aligned, and whether it is among the places. */
enum { TIMES, LISTED };

static LatheCounter loads, stores;
static const char loads_name[] = "load", stores_name[] = "store";
static LatheVector places = LATHE_VECTOR(Place);
static LatheLock lock;

/* Several threads may access memory at the same place of the program. */
static inline void count_unaligned(uint64_t *site) {
    __atomic_fetch_add(&site[TIMES], 1, __ATOMIC_RELAXED);
}

static void list(uint64_t pc, uint64_t bytes, uint64_t *site, const char *access) {
    lathe_lock(&lock);
    if (!site[LISTED])
        *(Place *)lathe_vector_add(&places) = (Place){pc, bytes, access, site, 0};
    site[LISTED] = 1;
    lathe_unlock(&lock);
    count_unaligned(site);
}

static __attribute__((noinline, cold)) void list_load(uint64_t pc, uint64_t bytes, uint64_t *site) {
    list(pc, bytes, site, loads_name);
}

static __attribute__((noinline, cold)) void list_store(uint64_t pc, uint64_t bytes, uint64_t *site) {
    list(pc, bytes, site, stores_name);
}

/* The bits of an address that are zero if an access of this size is aligned. */
static inline uint64_t low_bits(uint64_t bytes) {
    return bytes & (bytes - 1) ? (1ul << (63 - __builtin_clzl(bytes))) - 1 : bytes - 1;
}

static void load(uint64_t address, uint64_t bytes, uint64_t pc, uint64_t *site) {
    if (__builtin_expect(!(address & low_bits(bytes)), 1))
        return;
    if (__builtin_expect(site[LISTED], 1))
        count_unaligned(site);
    else
        list_load(pc, bytes, site);
}

static void store(uint64_t address, uint64_t bytes, uint64_t pc, uint64_t *site) {
    if (__builtin_expect(!(address & low_bits(bytes)), 1))
        return;
    if (__builtin_expect(site[LISTED], 1))
        count_unaligned(site);
    else
        list_store(pc, bytes, site);
}

static void count_load(void) {
    lathe_count(&loads, 1);
}

static void count_store(void) {
    lathe_count(&stores, 1);
}

/* A copy of the program begins with the places of the one that made it. */
static void start(void) {
    lathe_option("out");
    lathe_option_number("top", 0);
    for (size_t i = 0; i < places.count; i++)
        ((Place *)places.at)[i].site[TIMES] = 0;
}

static int by_times(const void *a, const void *b) {
    const Place *x = a, *y = b;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void print(LatheFile *out, const Place *p) {
    LatheSymbol symbol;
    LatheLine line;
    lathe_fprint(out, "%15lu %9lu  %-6s  0x%lx", p->times, p->bytes, p->access, p->pc);
    if (lathe_symbol(p->pc, &symbol))
        lathe_fprint(out, " %s+0x%lx", symbol.name, symbol.offset);
    lathe_fprint(out, " (%s)", symbol.file);
    if (lathe_line(p->pc, &line))
        lathe_fprint(out, " %s:%u", line.file, line.line);
    lathe_fprint(out, "\n");
}

/* Of all places of one kind of access. */
static uint64_t sum(const char *access) {
    const Place *p = places.at;
    uint64_t times = 0;
    for (size_t i = 0; i < places.count; i++)
        times += p[i].access == access ? p[i].times : 0;
    return times;
}

static void report(void) {
    uint64_t top = lathe_option_number("top", 20);
    const char *name = lathe_option("out");
    LatheFile *out = lathe_open(name ? name : "-");
    lathe_lock(&lock);
    Place *p = places.at;
    for (size_t i = 0; i < places.count; i++)
        p[i].times = p[i].site[TIMES];
    lathe_fprint(out, "%lu of %lu loads and %lu of %lu stores are not aligned\n", sum(loads_name), lathe_total(&loads),
                 sum(stores_name), lathe_total(&stores));
    lathe_fprint(out, "%15s %9s  %-6s  %s\n", "times", "bytes", "access", "place");
    lathe_sort(p, places.count, places.bytes, by_times);
    for (size_t i = 0; i < places.count && i < top && p[i].times; i++)
        print(out, &p[i]);
    lathe_unlock(&lock);
    lathe_close(out);
}

LATHE_HOOKS(LATHE_ON(LATHE_START, start), LATHE_ON(LATHE_LOAD, count_load), LATHE_ON(LATHE_STORE, count_store),
            LATHE_ON(LATHE_LOAD, load, {LATHE_ADDRESS}, {LATHE_BYTES}, {LATHE_PC}, {LATHE_SITE}),
            LATHE_ON(LATHE_STORE, store, {LATHE_ADDRESS}, {LATHE_BYTES}, {LATHE_PC}, {LATHE_SITE}),
            LATHE_ON(LATHE_END, report));
