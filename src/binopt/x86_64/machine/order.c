/* order.c: see order.h. Blocks are placed one behind the other where possible, first the one that follows if a branch
 * is not taken. */
#include "binopt/x86_64/machine/order.h"

/* A block on the path from the first block to where the search is. `left`: how many of its successors are still to be
 * visited. */
typedef struct Step {
    i32 block;
    u32 left;
} Step;

typedef struct Search {
    MachineUnit *u;
    BlockOrder *order;
    VEC(Step) way;
    u32 *place; /* by block: its place, from 1 on; 0: not visited yet */
    u8 *open;   /* by block: true if it is on the path */
    u32 *last;  /* by block: the last place from which a jump leads back to it */
} Search;

static void see(Search *s, i32 block) {
    VEC_PUSH(&s->order->list, block);
    VEC_PUSH(&s->way, ((Step){block, 2}));
    s->place[block] = (u32)s->order->list.len;
    s->open[block] = 1;
}

/* A block begins a loop if a block that it leads to jumps back to it. */
static void go_on(Search *s) {
    Step *at = &s->way.at[s->way.len - 1];
    i32 from = at->block;
    if (!at->left) {
        s->open[from] = 0;
        s->way.len--;
        return;
    }
    i32 next = graph_resolve(s->u, s->u->blocks.at[from].next[--at->left]);
    if (next == NO_BLOCK)
        return;
    if (!s->place[next])
        see(s, next);
    else if (s->open[next] && s->last[next] < s->place[from])
        s->last[next] = s->place[from];
}

/* All blocks between a loop's beginning and its last jump back count as part of it. */
static void count_depths(Search *s) {
    MachineBlock *blocks = s->u->blocks.at;
    for (size_t i = 0; i < s->order->list.len; i++) {
        i32 first = s->order->list.at[i];
        blocks[first].loops = s->last[first] != 0;
        for (size_t n = i; n < s->last[first]; n++)
            blocks[s->order->list.at[n]].depth++;
    }
}

/* If the last block of a loop jumps to the first one, and the first one leads to the last, the last block is placed
 * before the first, and the loop begins there. So one jump less is executed in each pass. */
static void turn_loops(MachineUnit *u, BlockOrder *order) {
    for (size_t i = 1; i < order->list.len; i++) {
        i32 at = order->list.at[i];
        MachineBlock *b = &u->blocks.at[at];
        i32 first = b->end == END_JUMP ? graph_resolve(u, b->next[0]) : NO_BLOCK;
        if (first == NO_BLOCK || first == at || first == 0 || !u->blocks.at[first].loops)
            continue;
        MachineBlock *head = &u->blocks.at[first];
        size_t to = 0;
        while (order->list.at[to] != first)
            to++;
        if (to > i || (graph_resolve(u, head->next[0]) != at && graph_resolve(u, head->next[1]) != at))
            continue;
        memmove(&order->list.at[to + 1], &order->list.at[to], (i - to) * sizeof(i32));
        order->list.at[to] = at;
        b->loops = true;
        head->loops = false;
    }
}

void order_blocks(MachineUnit *u, BlockOrder *order) {
    size_t count = u->blocks.len;
    Search s = {.u = u,
                .order = order,
                .place = ARENA_ARRAY(&u->arena, u32, count),
                .open = ARENA_ARRAY(&u->arena, u8, count),
                .last = ARENA_ARRAY(&u->arena, u32, count)};
    see(&s, 0);
    while (s.way.len)
        go_on(&s);
    count_depths(&s);
    turn_loops(u, order);
    VEC_FREE(&s.way);
}

void order_free(BlockOrder *order) {
    VEC_FREE(&order->list);
}
