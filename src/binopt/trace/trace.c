/* trace.c: the rewriter that follows the function's instructions with a state of what is known, as if it executed them.
 *
 * A block belongs to an address and a state. Where a branch is known, only one way is followed, so loops become unrolled and calls inlined;
 * where states differ, blocks are made again. This ends because an address has a limited number of states: beyond it, they are merged into
 * one that holds for all of them and replaces them. Loops that would run for long are recognised by their comparisons, and their states
 * are merged at once. */
#include "binopt/trace/trace.h"

#include "binopt/x86_64/machine/expect.h"
#include "binopt/x86_64/machine/machine.h"
#include "binopt/x86_64/machine/walk.h"

enum {
    MAX_STATES = 256,    /* of an address, if all branches between them were known */
    MAX_GUESSES = 4,     /* of an address, if some were not */
    MAX_STEPS = 64,      /* likewise, in functions with a loop that was seen to end */
    MAX_UNROLLED = 1500, /* instructions that an unrolled loop may have */
};

/* All blocks for one address in one frame. */
typedef struct Site {
    u64 pc;
    u32 frame;
    VEC(i32) states; /* blocks */
    i32 general;     /* the block that stands for all states; NO_BLOCK: none yet */
    Expect expected; /* if a branch is at this address */
    bool endless;
} Site;

typedef struct Trace {
    VEC(Site) sites;
    Map64 at;
    VEC(i32) queue;
    bool ends; /* a known branch comes nearer to the end of its loop each time */
} Trace;

static Site *site_of(Trace *t, u64 pc, u32 frame) {
    u64 key = pc ^ (u64)frame << 48;
    u32 i;
    if (map64_get(&t->at, key, &i))
        return &t->sites.at[i];
    map64_set(&t->at, key, (u32)t->sites.len);
    VEC_PUSH(&t->sites, ((Site){.pc = pc, .frame = frame, .general = NO_BLOCK}));
    return &t->sites.at[t->sites.len - 1];
}

static void enqueue(Trace *t, MachineUnit *u, i32 block) {
    if (u->blocks.at[block].queued)
        return;
    u->blocks.at[block].queued = true;
    VEC_PUSH(&t->queue, block);
}

static i32 add_block(Trace *t, MachineUnit *u, Site *site, const State *s, u32 unknowns) {
    i32 block = graph_add(u, site->pc, site->frame, s);
    u->blocks.at[block].unknowns = unknowns;
    VEC_PUSH(&site->states, block);
    enqueue(t, u, block);
    return block;
}

/* Makes one block for all states of an address, the present and the future ones. */
static i32 generalize(Trace *t, MachineUnit *u, Site *site, const State *s, u32 unknowns) {
    State all;
    state_copy(&all, s);
    for (size_t i = 0; i < site->states.len; i++)
        state_merge(&all, u->blocks.at[site->states.at[i]].in);
    i32 block = graph_add(u, site->pc, site->frame, &all);
    u->blocks.at[block].unknowns = unknowns;
    for (size_t i = 0; i < site->states.len; i++)
        u->blocks.at[site->states.at[i]].forward = block;
    site->general = block;
    enqueue(t, u, block);
    return block;
}

/* How many blocks of an address were made because a branch between them was not known. */
static u32 guesses(const MachineUnit *u, const Site *site, u32 unknowns) {
    u32 count = 0;
    for (size_t i = 0; i < site->states.len; i++)
        count += u->blocks.at[site->states.at[i]].unknowns != unknowns;
    return count;
}

/* If a branch in between was not known, the distances that pointers have moved are of no use: merges states that differ
 * only in these. */
static i32 join_pointers(Trace *t, MachineUnit *u, Site *site, const State *s, u32 unknowns) {
    for (size_t i = 0; i < site->states.len; i++) {
        MachineBlock *b = &u->blocks.at[site->states.at[i]];
        if (b->unknowns == unknowns || !state_same_numbers(b->in, s))
            continue;
        if (state_merge(b->in, s))
            enqueue(t, u, site->states.at[i]);
        return site->states.at[i];
    }
    return NO_BLOCK;
}

static i32 target(void *self, MachineUnit *u, u64 pc, u32 frame, const State *s, u32 unknowns) {
    Trace *t = self;
    Site *site = site_of(t, pc, frame);
    if (site->general != NO_BLOCK) {
        MachineBlock *b = &u->blocks.at[site->general];
        if (state_merge(b->in, s))
            enqueue(t, u, site->general);
        return site->general;
    }
    for (size_t i = 0; i < site->states.len; i++)
        if (state_equal(u->blocks.at[site->states.at[i]].in, s))
            return site->states.at[i];
    i32 joined = join_pointers(t, u, site, s, unknowns);
    if (joined != NO_BLOCK)
        return joined;
    u32 most = t->ends && u->total_outs < MAX_UNROLLED ? MAX_STEPS : MAX_GUESSES;
    if (site->states.len >= MAX_STATES || guesses(u, site, unknowns) >= most || (site->endless && site->states.len))
        return generalize(t, u, site, s, unknowns);
    return add_block(t, u, site, s, unknowns);
}

/* If a loop would become too large, the code behind its branch becomes one block. */
static void branches(void *self, MachineUnit *u, const MachineInsn *in, u32 frame, const u64 *to) {
    Trace *t = self;
    u64 more = to ? expect_next(&site_of(t, in->pc, frame)->expected, u) : 0;
    if (more > MAX_UNROLLED)
        site_of(t, *to, frame)->endless = true;
    else if (more)
        t->ends = true;
}

static bool splits(void *self, MachineUnit *u, u64 pc, u32 frame) {
    (void)self;
    (void)u;
    (void)pc;
    (void)frame;
    return false;
}

static void build(MachineUnit *u, const State *entry) {
    Trace t = {0};
    Policy policy = {&t, target, splits, branches};
    u->blocks.at[0].next[0] = target(&t, u, u->cfg->function, 0, entry, 0);
    while (t.queue.len && !u->hopeless) {
        i32 block = t.queue.at[--t.queue.len];
        u->blocks.at[block].queued = false;
        if (u->blocks.at[block].forward == NO_BLOCK)
            walk_block(u, &policy, block);
    }
    for (size_t i = 0; i < t.sites.len; i++)
        VEC_FREE(&t.sites.at[i].states);
    VEC_FREE(&t.sites);
    VEC_FREE(&t.queue);
    map64_free(&t.at);
}

static BinoptFunc specialize(void *self, const BinoptCfg *cfg) {
    return machine_offer(self, cfg, build);
}

BinoptFunc trace_quickly(void *self, const BinoptCfg *cfg) {
    enum { LITTLE_WORK = 240 };
    return machine_specialize(self, cfg, build, LITTLE_WORK, NULL);
}

BinoptFunc trace_anyway(void *self, const BinoptCfg *cfg, bool *gains) {
    return machine_specialize(self, cfg, build, MACHINE_WORK, gains);
}

void trace_keep(void *self, BinoptFunc made) {
    machine_keep(self, made);
}

Places *trace_places(void *self) {
    return machine_places(self);
}

const Rewriter rewriter_trace = {
    .name = "trace",
    .driver = "trace",
    .open = machine_open,
    .close = machine_close,
    .specialize = specialize,
    .release = machine_release,
    .reason = machine_reason,
    .code_bytes = machine_code_bytes,
};
