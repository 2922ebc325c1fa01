/* once.c: a tool that compares what is told once (LatheWhere.once) with what is counted each time: each block that was executed is told, in each process, and no other one. */
#include <lathe/tool.h>

static LatheTable passes;
static LatheMap told = LATHE_MAP(uint64_t);
static LatheCounter calls;
static LatheLock lock;

static uint64_t key_of(uint64_t pc, uint64_t bytes) {
    return pc ^ bytes << 48;
}

static void count(uint64_t pc, uint64_t bytes) {
    lathe_count_in(&passes, pc, bytes, 0, 1);
}

static void tell(uint64_t pc, uint64_t bytes) {
    lathe_lock(&lock);
    *(uint64_t *)lathe_map_at(&told, key_of(pc, bytes)) = 1;
    lathe_unlock(&lock);
    lathe_count(&calls, 1);
}

static void never(void) {
    lathe_print("a hook is called that the options leave out\n");
}

static void start(void) {
    lathe_option("some");
    lathe_map_clear(&told);
}

static void end(void) {
    uint64_t blocks = 0, missing = 0, executed = 0, found = 0;
    for (LatheRow r = {0}; lathe_table_next(&passes, &r);) {
        blocks++;
        executed += r.total;
        missing += !lathe_map_find(&told, key_of(r.key[0], r.key[1]));
    }
    for (LatheWalk w = {0}; lathe_map_next(&told, &w);)
        found++;
    bool seldom = lathe_total(&calls) < executed / 4;
    lathe_print("once: %s, %lu missing, %lu others, %s\n", blocks > 300 ? "many" : "few", missing,
                found - (blocks - missing), seldom ? "seldom" : "often");
}

#define ONCE ((LatheWhere){.once = true, .option = "some"})
#define NEVER ((LatheWhere){.unless = "some"})

LATHE_HOOKS(LATHE_ON(LATHE_START, start), LATHE_ON(LATHE_END, end),
            LATHE_ON(LATHE_BLOCK, count, {LATHE_PC}, {LATHE_BYTES}),
            LATHE_WHERE(LATHE_BLOCK, tell, ONCE, {LATHE_PC}, {LATHE_BYTES}), LATHE_WHERE(LATHE_BLOCK, never, NEVER));
