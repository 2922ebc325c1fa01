/* cut.c: the part of a large guest function that is translated beside quick code, to which all ways out of it lead.
 *
 * LLVM's time grows faster than a function's size, and what is hot is a small part of a large one. Usually it is asked for by the head of
 * a loop: then the blocks on a way around through that place are taken, the nearest first. Where there is no way around, as at the
 * beginning of a function, the nearest blocks are taken. */
#include "run/server/server.h"

typedef VEC(u32) Numbers; /* of blocks */

typedef struct Cut {
    const LatheFunc *fn;
    size_t count;
    Map64 number; /* of the address where a block begins */
    bool *around; /* there is a way from it back to the entry */
    bool *seen;
} Cut;

static bool leads_back(Cut *c, u32 block, u32 entry) {
    LatheBlock b = lathe_func_block(c->fn, block);
    u32 next;
    for (size_t i = 0; i < b.successor_count; i++)
        if (map64_get(&c->number, b.successors[i], &next) && (next == entry || c->around[next]))
            return true;
    return false;
}

/* Blocks are in the order of their addresses: most ways back are found from the end. */
static void find_ways_back(Cut *c, u32 entry) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (u32 i = (u32)c->count; i-- > 0;)
            if (!c->around[i] && leads_back(c, i, entry))
                c->around[i] = changed = true;
    }
}

static void take(const LatheBlock *b, Map64 *part) {
    for (size_t i = 0; i < b->insn_count; i++)
        map64_set(part, b->insns[i], 1);
}

/* Breadth first from the entry. */
static void take_nearest(Cut *c, u32 entry, u32 most, Map64 *part) {
    Numbers queue = {0};
    u32 insns = 0, next;
    bool loops = c->around[entry];
    VEC_PUSH(&queue, entry);
    c->seen[entry] = true;
    for (size_t at = 0; at < queue.len && insns < most; at++) {
        LatheBlock b = lathe_func_block(c->fn, queue.at[at]);
        take(&b, part);
        insns += (u32)b.insn_count;
        for (size_t i = 0; i < b.successor_count; i++) {
            if (!map64_get(&c->number, b.successors[i], &next) || c->seen[next] || (loops && !c->around[next]))
                continue;
            c->seen[next] = true;
            VEC_PUSH(&queue, next);
        }
    }
    VEC_FREE(&queue);
}

void cut_choose(const LatheFunc *fn, u64 pc, u32 most, Map64 *part) {
    Cut c = {.fn = fn, .count = lathe_func_block_count(fn)};
    u32 entry;
    c.around = mem_new(c.count + 1);
    c.seen = mem_new(c.count + 1);
    for (size_t i = 0; i < c.count; i++)
        map64_set(&c.number, lathe_func_block(fn, i).start, (u32)i);
    if (map64_get(&c.number, pc, &entry)) {
        find_ways_back(&c, entry);
        take_nearest(&c, entry, most, part);
    }
    map64_free(&c.number);
    mem_free(c.around);
    mem_free(c.seen);
}
