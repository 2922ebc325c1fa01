/* graph.c: from instructions to blocks: edges, dominance, dominance frontiers, and which registers may be dirty where. */
#include <stdlib.h>

#include "lift/func.h"

u32 graph_block_at(const LatheFunc *fn, u64 pc) {
    u32 i;
    return map64_get(&fn->by_pc, pc, &i) ? fn->insns.at[i].block : 0;
}

/* ------------------------------------------------------------------------------------------------------------ blocks */

static void mark_leader(LatheFunc *fn, u64 pc) {
    u32 i;
    if (map64_get(&fn->by_pc, pc, &i))
        fn->insns.at[i].block = 1;
}

/* A block begins at the entry, after every instruction that does not simply go on, and wherever something jumps to. */
static void mark_leaders(LatheFunc *fn) {
    mark_leader(fn, fn->entry_pc);
    for (size_t i = 0; i < fn->insns.len; i++) {
        Insn *in = &fn->insns.at[i];
        if (in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH)
            mark_leader(fn, in->target);
        if (in->flow != FLOW_NEXT)
            mark_leader(fn, insn_end(in));
        if (insn_lands(in))
            mark_leader(fn, in->landing);
        for (size_t k = 0; in->table && k < in->table->count; k++)
            mark_leader(fn, in->table->targets[k]);
    }
    /* Instructions that overlap may both run into one: the second way in makes it a leader. */
    for (size_t i = 0; i < fn->insns.len; i++)
        fn->insns.at[i].pred_count = 0;
    for (size_t i = 0; i < fn->insns.len; i++) {
        u32 next;
        if (fn->insns.at[i].flow == FLOW_NEXT && map64_get(&fn->by_pc, insn_end(&fn->insns.at[i]), &next) &&
            ++fn->insns.at[next].pred_count > 1)
            fn->insns.at[next].block = 1;
    }
    for (size_t i = 0; i < fn->insns.len; i++) /* reached by nothing: added by itself */
        if (!fn->insns.at[i].pred_count)
            fn->insns.at[i].block = 1;
}

static void number_blocks(LatheFunc *fn) {
    u32 n = 1;
    for (size_t i = 0; i < fn->insns.len; i++)
        if (fn->insns.at[i].block)
            fn->insns.at[i].block = n++;
    fn->block_count = n;
    fn->blocks = ARENA_ARRAY(&fn->arena, Block, n);
    for (u32 i = 0; i < fn->insns.len; i++)
        if (fn->insns.at[i].block)
            fn->blocks[fn->insns.at[i].block].first = i;
}

static void add_succ(LatheFunc *fn, Block *b, u64 pc) {
    u32 to = graph_block_at(fn, pc);
    if (to)
        b->succ[b->succ_count++] = to;
    else
        b->exits = true;
}

static void end_block(LatheFunc *fn, Block *b, const Insn *last) {
    b->succ = ARENA_ARRAY(&fn->arena, u32, 2 + (last->table ? last->table->count : 0));
    switch ((Flow)last->flow) {
    case FLOW_NEXT:
        add_succ(fn, b, insn_end(last));
        return;
    case FLOW_JUMP:
        add_succ(fn, b, last->target);
        return;
    case FLOW_BRANCH:
        add_succ(fn, b, last->target);
        add_succ(fn, b, insn_end(last));
        return;
    case FLOW_CALL:
        b->exits = true;
        if (func_calls_out(fn, last) && !last->last)
            add_succ(fn, b, insn_end(last));
        if (insn_lands(last))
            add_succ(fn, b, last->landing);
        return;
    case FLOW_INDIRECT:
        b->exits = true;
        for (size_t k = 0; last->table && k < last->table->count; k++)
            add_succ(fn, b, last->table->targets[k]);
        return;
    case FLOW_RETURN:
    case FLOW_SYSCALL:
    case FLOW_STOP:
        b->exits = true;
        return;
    }
}

/* A call out leaves everything in the guest state; a guest call leaves the convention's registers elsewhere. */
static void note_writes(Block *b, const Insn *in, bool calls_out, const RegSet *slotted) {
    if (calls_out) {
        memset(&b->writes, 0xff, sizeof(b->writes));
        b->leaves = in->calls_out ? (RegSet){0} : *slotted;
        b->calls_out = true;
    } else {
        regset_join(&b->writes, &in->writes);
        regset_join(&b->leaves, &in->writes);
    }
}

static void fill_block(LatheFunc *fn, Block *b) {
    u32 i = b->first;
    for (;;) {
        Insn *in = &fn->insns.at[i];
        b->insn_count++;
        note_writes(b, in, func_calls_out(fn, in), &fn->conv.slotted);
        if (in->flow != FLOW_NEXT || !map64_get(&fn->by_pc, insn_end(in), &in->next) || fn->insns.at[in->next].block) {
            end_block(fn, b, in);
            return;
        }
        i = in->next;
    }
}

static void link_preds(LatheFunc *fn, u32 from) {
    Block *b = &fn->blocks[from];
    for (u32 i = 0; i < b->succ_count; i++) {
        Block *to = &fn->blocks[b->succ[i]];
        BlockList *p = ARENA_NEW(&fn->arena, BlockList);
        *p = (BlockList){from, to->preds};
        to->preds = p;
        to->pred_count++;
    }
}

/* --------------------------------------------------------------------------------------------------------- dominance */

static void number_order(LatheFunc *fn) {
    u32 *stack = mem_new(fn->block_count * 2 * sizeof(u32)), *at = stack + fn->block_count, len = 0;
    u32 *post = mem_new(fn->block_count * sizeof(u32)), posted = 0;
    fn->blocks[0].reachable = true;
    stack[len++] = 0;
    while (len) {
        Block *b = &fn->blocks[stack[len - 1]];
        if (at[len - 1] == b->succ_count) {
            post[posted++] = stack[--len];
            continue;
        }
        u32 to = b->succ[at[len - 1]++];
        if (!fn->blocks[to].reachable) {
            fn->blocks[to].reachable = true;
            at[len] = 0;
            stack[len++] = to;
        }
    }
    fn->order = ARENA_ARRAY(&fn->arena, u32, posted);
    fn->order_count = posted;
    for (u32 i = 0; i < posted; i++) {
        fn->order[i] = post[posted - 1 - i];
        fn->blocks[fn->order[i]].order = i;
    }
    mem_free(stack);
    mem_free(post);
}

static u32 meet(const LatheFunc *fn, u32 a, u32 b) {
    while (a != b) {
        while (fn->blocks[a].order > fn->blocks[b].order)
            a = fn->blocks[a].idom;
        while (fn->blocks[b].order > fn->blocks[a].order)
            b = fn->blocks[b].idom;
    }
    return a;
}

/* Cooper, Harvey, Kennedy: iterate over the reverse postorder until nothing changes. */
static void find_dominators(LatheFunc *fn) {
    enum { UNKNOWN = 0xffffffff };
    for (u32 i = 1; i < fn->order_count; i++)
        fn->blocks[fn->order[i]].idom = UNKNOWN;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 1; i < fn->order_count; i++) {
            Block *b = &fn->blocks[fn->order[i]];
            u32 idom = UNKNOWN;
            for (BlockList *p = b->preds; p; p = p->next)
                if (fn->blocks[p->block].reachable && fn->blocks[p->block].idom != UNKNOWN)
                    idom = idom == UNKNOWN ? p->block : meet(fn, idom, p->block);
            changed |= idom != b->idom;
            b->idom = idom;
        }
    }
}

/* Intervals of the dominator tree: children come after their parent in reverse postorder, so sizes add up backwards. */
static void number_tree(LatheFunc *fn) {
    u32 *size = mem_new(fn->block_count * sizeof(u32)), *next = mem_new(fn->block_count * sizeof(u32));
    for (u32 i = fn->order_count; i-- > 0;) {
        u32 b = fn->order[i];
        size[b]++;
        if (b)
            size[fn->blocks[b].idom] += size[b];
    }
    for (u32 i = 0; i < fn->order_count; i++) {
        u32 b = fn->order[i];
        Block *block = &fn->blocks[b];
        block->pre = b ? next[block->idom] : 0;
        if (b)
            next[block->idom] += size[b];
        next[b] = block->pre + 1;
        block->post = block->pre + size[b] - 1;
    }
    mem_free(size);
    mem_free(next);
}

static void find_frontiers(LatheFunc *fn) {
    for (u32 i = 1; i < fn->order_count; i++) {
        u32 b = fn->order[i];
        if (fn->blocks[b].pred_count < 2)
            continue;
        for (BlockList *p = fn->blocks[b].preds; p; p = p->next) {
            if (!fn->blocks[p->block].reachable)
                continue;
            for (u32 r = p->block; r != fn->blocks[b].idom; r = fn->blocks[r].idom) {
                if (fn->blocks[r].frontier && fn->blocks[r].frontier->block == b)
                    break; /* the rest of the way was walked for another predecessor */
                BlockList *f = ARENA_NEW(&fn->arena, BlockList);
                *f = (BlockList){b, fn->blocks[r].frontier};
                fn->blocks[r].frontier = f;
            }
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------- loops */

static bool goes_back(const LatheFunc *fn, u32 from, const Block *to) {
    return fn->blocks[from].reachable && fn->blocks[from].order >= to->order;
}

/* Walks back from `from` to `head`: through all of a loop, which is marked, or past no calls only. Is the head reached? */
static bool walk_loop(LatheFunc *fn, u32 head, u32 from, bool past_calls) {
    u32 *work = mem_new(fn->block_count * sizeof(u32)), len = 0;
    bool *seen = mem_new(fn->block_count * sizeof(bool));
    work[len++] = from;
    seen[from] = true;
    while (len) {
        u32 at = work[--len];
        Block *b = &fn->blocks[at];
        b->in_loop |= past_calls;
        if (at == head || (b->calls_out && !past_calls))
            continue;
        for (BlockList *p = b->preds; p; p = p->next)
            if (fn->blocks[p->block].reachable && !seen[p->block]) {
                seen[p->block] = true;
                work[len++] = p->block;
            }
    }
    bool reached = seen[head] && (past_calls || !fn->blocks[head].calls_out);
    mem_free(work);
    mem_free(seen);
    return reached;
}

/* If the code of a jump back can also be reached without passing the loop's head, what belongs to the loop and what only leads into it cannot be told apart, and nothing is
 * marked. Most such jumps make no loop at all: a call of a function that never returns seems to go on in the code behind it. */
static void find_loops(LatheFunc *fn) {
    for (u32 i = 1; i < fn->order_count; i++) {
        Block *b = &fn->blocks[fn->order[i]];
        bool without_call = false;
        for (BlockList *p = b->preds; p; p = p->next)
            if (goes_back(fn, p->block, b)) {
                b->heads_loop = true;
                if (graph_dominates(fn, fn->order[i], p->block))
                    walk_loop(fn, fn->order[i], p->block, true);
                without_call |= walk_loop(fn, fn->order[i], p->block, false);
            }
        b->loop_calls = b->heads_loop && !without_call;
    }
}

/* -------------------------------------------------------------------------------------------------- dirty registers */

static RegSet dirty_out(const Block *b) {
    RegSet out = b->leaves;
    if (!b->calls_out)
        regset_join(&out, &b->dirty_in);
    return out;
}

/* Flags are better never made, and what has a slot is not written back. */
static RegSet never_settled(const LatheFunc *fn) {
    RegSet s = fn->conv.slotted;
    regset_join(&s, &fn->isa->dead_at_calls);
    return s;
}

/* Are registers worth writing back between two blocks, so that the second has them clean? Not if it were done each time around a loop.
 * Before a loop that calls each time around it is done once; before others it can wait. */
static bool may_settle(const LatheFunc *fn, u32 from, const Block *to) {
    const Block *b = &fn->blocks[from];
    if (to->heads_loop)
        return to->loop_calls && !goes_back(fn, from, to);
    return !b->in_loop || (b->succ_count == 1 && !to->in_loop);
}

/* What is dirty on all ways to b, or has to be taken for it. What is on some only is written back before b, so that a register
 * that a function changes where it rarely gets to costs nothing where it does not get to. */
static RegSet dirty_at(const LatheFunc *fn, const Block *b, RegSet kept) {
    RegSet any = {0}, all = {{~(u64)0, ~(u64)0}};
    for (const BlockList *p = b->preds; p; p = p->next) {
        if (!fn->blocks[p->block].reachable)
            continue;
        RegSet out = dirty_out(&fn->blocks[p->block]);
        regset_join(&any, &out);
        regset_keep(&all, &out);
        if (!may_settle(fn, p->block, b))
            regset_join(&kept, &out);
    }
    if (!b->heads_loop)
        regset_join(&kept, &all);
    regset_keep(&any, &kept);
    return any;
}

static void find_settled(LatheFunc *fn, Block *b) {
    RegSet out = dirty_out(b);
    for (u32 i = 0; i < b->succ_count; i++) {
        RegSet clean = out;
        regset_drop(&clean, &fn->blocks[b->succ[i]].dirty_in);
        regset_join(&b->settles, &clean);
    }
    regset_join(&fn->settled, &b->settles);
}

static void find_dirty(LatheFunc *fn) {
    RegSet never = never_settled(fn);
    fn->blocks[0].leaves = fn->conv.slotted;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 1; i < fn->order_count; i++) {
            Block *b = &fn->blocks[fn->order[i]];
            RegSet now = dirty_at(fn, b, never);
            changed |= memcmp(&now, &b->dirty_in, sizeof(now)) != 0;
            b->dirty_in = now;
        }
    }
    for (u32 i = 0; i < fn->order_count; i++)
        find_settled(fn, &fn->blocks[fn->order[i]]);
}

void graph_build(LatheFunc *fn) {
    mark_leaders(fn);
    number_blocks(fn);
    for (u32 b = 1; b < fn->block_count; b++)
        fill_block(fn, &fn->blocks[b]);
    fn->blocks[0].succ = ARENA_NEW(&fn->arena, u32);
    add_succ(fn, &fn->blocks[0], fn->entry_pc);
    for (u32 b = 0; b < fn->block_count; b++)
        link_preds(fn, b);
    number_order(fn);
    find_dominators(fn);
    number_tree(fn);
    find_frontiers(fn);
    find_loops(fn);
    find_dirty(fn);
}
