/* renew.c: replaces translated code, or begins all of it anew, while other threads are halted (halt.c).
 *
 * All code is begun anew when its memory is full, or when most blocks are of guest code that exists no longer: memory of single blocks cannot be used
 * again, because a thread may be in it. Every translation is forgotten then, and no thread returns to frames of optimised code on its host stack. */
#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/above.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/halt.h"
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"

enum { BYTES_MIN = 16 << 20 };

bool quick_is_crowded(void) {
    const Blocks *q = &quick_all;
    u64 bytes = arena_used() + q->blocks.len + q->exits.len + q->lens.len + q->bitmaps.len + q->texts.len;
    return quick_is_stale() || arena_is_nearly_full() || map_is_large() ||
           (bytes > BYTES_MIN && q->dead > block_count() / 2);
}

/* If another thread halts all threads now, waits for the end of that first. This thread is in a system call, so it counts as stopped meanwhile. */
void quick_with_others_stopped(Thread *t, void (*what)(void)) {
    halt_await(t, HALT_RENEWAL);
    halt_all(HALT_RENEWAL, t);
    what();
    halt_end(HALT_RENEWAL);
}

static void forget_lookups(Thread *t) {
    memset(t->lookup.pc, 0, sizeof(t->lookup.pc));
    memset(t->lookup.jump_pc, 0, sizeof(t->lookup.jump_pc));
    tables_init(t);
    quick_expect_nobody(t);
    t->quick.host_sp = t->quick.host_base;
}

static bool renew(Thread *t, bool keeps_map) {
    if (halt_is_under_way(HALT_RENEWAL) || !halt_reaches_all())
        return false;
    halt_all(HALT_RENEWAL, t);
    code_forget_all();
    blocks_forget_all();
    arena_reset();
    map_forget_all();
    if (!keeps_map)
        the.map = 0;
    __atomic_fetch_add(&quick_all.tables_age, 1, __ATOMIC_RELEASE);
    for (Thread *each = the.threads; each; each = each->next)
        forget_lookups(each);
    the.stats.renewals++;
    halt_end(HALT_RENEWAL);
    return true;
}

void quick_renew(Thread *t) {
    renew(t, true);
}

bool quick_renew_without_map(Thread *t) {
    return renew(t, false);
}
