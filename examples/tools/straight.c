/* straight.c: the longest run of blocks in which each follows the one before it in memory: no branch is taken, and nothing is called. */
#include <lathe/tool.h>

static LatheLock lock;
static uint64_t most, most_at;

/* own: where the run begins, how many blocks it has, and where the last one of these ends. */
static void block(uint64_t pc, uint64_t bytes, uint64_t *own) {
    bool goes_on = own[2] == pc;
    own[0] = goes_on ? own[0] : pc;
    own[1] = goes_on ? own[1] + 1 : 1;
    own[2] = pc + bytes;
    lathe_lock(&lock);
    if (own[1] > most)
        most = own[1], most_at = own[0];
    lathe_unlock(&lock);
}

static void report(void) {
    LatheSymbol s;
    bool known = lathe_symbol(most_at, &s);
    lathe_print("%lu blocks, from %s+0x%lx on\n", most, known ? s.name : "?", known ? s.offset : most_at);
}

LATHE_HOOKS(LATHE_ON(LATHE_BLOCK, block, {LATHE_PC}, {LATHE_BYTES}, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_END, report));
