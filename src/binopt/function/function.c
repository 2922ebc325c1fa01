/* function.c: the rewriter that looks at a function as a whole.
 *
 * The function is cut into its blocks (cfg.h), and what is known is propagated over them until nothing changes. Where paths join, only what
 * holds on both is kept, so that there is one copy of each block: one for each place where it is inlined, and for each pass of a loop that
 * is unrolled. A loop is unrolled if all branches that leave or continue it are known in each pass, and if the code does not become too
 * large. That is tried: if it turns out wrong, the loop is recorded as one that is not unrolled, and everything begins anew. */
#include "binopt/config/rewriter.h"
#include "binopt/function/cfg.h"
#include "binopt/x86_64/machine/expect.h"
#include "binopt/x86_64/machine/machine.h"
#include "binopt/x86_64/machine/walk.h"

enum { MAX_PASSES = 1000, MAX_UNROLLED = 1500, MAX_BEGINNINGS = 64 };

typedef struct Branch {
    u64 pc;
    u32 call; /* the frame of the function, without passes of loops */
    Expect expected;
} Branch;

typedef struct Function {
    VEC(Cfg *) cfgs;
    VEC(u64) kept; /* loops that are not unrolled */
    VEC(Branch) branches;
    Map64 at; /* pc and frame -> block */
    VEC(i32) queue;
    bool again;
} Function;

static const Cfg *cfg_of(Function *f, MachineUnit *u, u64 function) {
    for (size_t i = 0; i < f->cfgs.len; i++)
        if (f->cfgs.at[i]->function == function)
            return f->cfgs.at[i];
    Cfg *c = ARENA_NEW(&u->arena, Cfg);
    cfg_init(c, &u->memory, &u->arena, function);
    VEC_PUSH(&f->cfgs, c);
    return c;
}

/* ---------------------------------------------------------------------------------------------------------------- loops */

static bool is_kept(const Function *f, u64 first) {
    for (size_t i = 0; i < f->kept.len; i++)
        if (f->kept.at[i] == first)
            return true;
    return false;
}

static void keep(Function *f, u64 first) {
    if (!is_kept(f, first))
        VEC_PUSH(&f->kept, first);
    f->again = true;
}

static u32 frame_of_pass(MachineUnit *u, u32 frame, u64 loop, u32 pass) {
    for (u32 i = 0; i < u->frames.len; i++)
        if (u->frames.at[i].loop == loop && u->frames.at[i].pass == pass && u->frames.at[i].outer == frame)
            return i;
    MachineFrame f = u->frames.at[frame];
    f.outer = frame;
    f.loop = loop;
    f.pass = pass;
    VEC_PUSH(&u->frames, f);
    return (u32)u->frames.len - 1;
}

/* The frame for an address that is reached from a frame: it says which passes of which loops the address is in. */
static u32 enter_loops(Function *f, MachineUnit *u, u64 pc, u32 frame) {
    const Cfg *c = cfg_of(f, u, u->frames.at[frame].function);
    while (u->frames.at[frame].loop) {
        const CfgLoop *l = cfg_loop(c, u->frames.at[frame].loop);
        if (l->first == pc) {
            u32 pass = u->frames.at[frame].pass + 1;
            if (pass > MAX_PASSES)
                keep(f, pc);
            return frame_of_pass(u, u->frames.at[frame].outer, pc, pass);
        }
        if (cfg_is_in(c, l, pc))
            break;
        frame = u->frames.at[frame].outer;
    }
    bool begins = cfg_loop(c, pc) && !is_kept(f, pc);
    return begins ? frame_of_pass(u, frame, pc, 0) : frame;
}

static u32 call_of(const MachineUnit *u, u32 frame) {
    while (u->frames.at[frame].loop)
        frame = u->frames.at[frame].outer;
    return frame;
}

static Expect *expected(Function *f, const MachineUnit *u, u64 pc, u32 frame) {
    u32 call = call_of(u, frame);
    for (size_t i = 0; i < f->branches.len; i++)
        if (f->branches.at[i].pc == pc && f->branches.at[i].call == call)
            return &f->branches.at[i].expected;
    VEC_PUSH(&f->branches, ((Branch){.pc = pc, .call = call}));
    return &f->branches.at[f->branches.len - 1].expected;
}

/* True if the branch decides whether the loop continues. */
static bool decides(const Cfg *c, const CfgLoop *l, const MachineInsn *in) {
    u64 to[] = {in->target, in->pc + in->length};
    for (u32 i = 0; i < 2; i++)
        if (to[i] == l->first || !cfg_is_in(c, l, to[i]))
            return true;
    return false;
}

static void branches(void *self, MachineUnit *u, const MachineInsn *in, u32 frame, const u64 *to) {
    Function *f = self;
    const Cfg *c = cfg_of(f, u, u->frames.at[frame].function);
    if (!u->frames.at[frame].loop)
        return;
    u64 more = to ? expect_next(expected(f, u, in->pc, frame), u) : 0;
    for (; u->frames.at[frame].loop; frame = u->frames.at[frame].outer)
        if ((!to || more > MAX_UNROLLED) && decides(c, cfg_loop(c, u->frames.at[frame].loop), in)) {
            keep(f, u->frames.at[frame].loop);
            return;
        }
}

/* --------------------------------------------------------------------------------------------------------------- blocks */

static void enqueue(Function *f, MachineUnit *u, i32 block) {
    if (u->blocks.at[block].queued)
        return;
    u->blocks.at[block].queued = true;
    VEC_PUSH(&f->queue, block);
}

static i32 target(void *self, MachineUnit *u, u64 pc, u32 frame, const State *s, u32 unknowns) {
    (void)unknowns;
    Function *f = self;
    frame = enter_loops(f, u, pc, frame);
    u64 key = pc ^ (u64)frame << 48;
    u32 known;
    if (!map64_get(&f->at, key, &known)) {
        i32 block = graph_add(u, pc, frame, s);
        map64_set(&f->at, key, (u32)block);
        enqueue(f, u, block);
        return block;
    }
    MachineBlock *b = &u->blocks.at[known];
    if (state_merge(b->in, s))
        enqueue(f, u, (i32)known);
    return (i32)known;
}

static bool splits(void *self, MachineUnit *u, u64 pc, u32 frame) {
    return cfg_begins(cfg_of(self, u, u->frames.at[frame].function), pc);
}

/* Takes the block of the innermost call that comes first in the function, so that blocks are visited after those before
 * them. */
static i32 take(Function *f, const MachineUnit *u) {
    size_t best = 0;
    for (size_t i = 1; i < f->queue.len; i++) {
        const MachineBlock *a = &u->blocks.at[f->queue.at[i]], *b = &u->blocks.at[f->queue.at[best]];
        u32 x = u->frames.at[a->frame].depth, y = u->frames.at[b->frame].depth;
        bool earlier = a->frame != b->frame ? a->frame < b->frame : a->pc < b->pc;
        if (x > y || (x == y && earlier))
            best = i;
    }
    i32 block = f->queue.at[best];
    f->queue.at[best] = f->queue.at[--f->queue.len];
    return block;
}

static void begin(Function *f, MachineUnit *u) {
    u->blocks.len = 1;
    u->frames.len = 1;
    u->total_outs = 0;
    f->branches.len = f->queue.len = 0;
    map64_free(&f->at);
    f->again = false;
}

static void propagate(Function *f, MachineUnit *u, const State *entry) {
    Policy policy = {f, target, splits, branches};
    begin(f, u);
    i32 first = target(f, u, u->cfg->function, 0, entry, 0);
    u->blocks.at[0].next[0] = first;
    while (f->queue.len && !u->hopeless && !f->again) {
        i32 block = take(f, u);
        u->blocks.at[block].queued = false;
        walk_block(u, &policy, block);
    }
}

static void build(MachineUnit *u, const State *entry) {
    Function f = {0};
    u32 count = 0;
    do
        propagate(&f, u, entry);
    while (f.again && !u->hopeless && ++count < MAX_BEGINNINGS);
    if (f.again && !u->hopeless)
        u->hopeless = "it has too many loops to unroll: propagation through them does not come to an end";
    for (size_t i = 0; i < f.cfgs.len; i++)
        cfg_free(f.cfgs.at[i]);
    VEC_FREE(&f.cfgs);
    VEC_FREE(&f.kept);
    VEC_FREE(&f.branches);
    VEC_FREE(&f.queue);
    map64_free(&f.at);
}

static BinoptFunc specialize(void *self, const BinoptCfg *cfg) {
    return machine_offer(self, cfg, build);
}

const Rewriter rewriter_function = {
    .name = "function",
    .driver = "function",
    .open = machine_open,
    .close = machine_close,
    .specialize = specialize,
    .release = machine_release,
    .reason = machine_reason,
    .code_bytes = machine_code_bytes,
};
