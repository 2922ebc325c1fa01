/* totals.h: what blocks and threads have counted, as sums for the whole program. */
#ifndef CALLS_TOTALS_H
#define CALLS_TOTALS_H

#include "frames.h"

/* --------------------------------------------------------------------------------------------------------------- blocks */

static LatheTable passes;     /* how often blocks were executed: address, number of instructions */
static LatheCounter executed; /* instructions */

static void count_block(uint64_t pc, uint64_t count) {
    lathe_count_in(&passes, pc, count, 0, 1);
    lathe_count(&executed, (long)count);
}

/* What was executed up to now by threads that have ended, or by all. */
typedef struct Total {
    Sum *sums; /* by the numbers of edges */
    uint64_t room;
    Node *root, *last_node;
} Total;

static Total ended;

static void add_sums(Total *total, const Sum *sums, uint64_t count) {
    if (count > total->room) {
        total->sums = lathe_resize(total->sums, count * sizeof(Sum));
        total->room = count;
    }
    for (uint64_t i = 0; i < count; i++) {
        total->sums[i].calls += sums[i].calls;
        total->sums[i].instructions += sums[i].instructions;
    }
}

/* The calls that a thread is in have cost what was executed so far. The thread goes on in them. */
static void add_frames(Total *total, const Own *own) {
    size_t bytes = own->room * sizeof(uint64_t);
    uint64_t *counts = lathe_alloc(bytes + 1);
    if (bytes)
        memcpy(counts, own->counts, bytes);
    for (const Frame *f = own->top - 1; f > own->frames; f--) {
        Sum *sum = &total->sums[f->edge->number];
        sum->calls++;
        if (!--counts[own->room - 1 - f->edge->function])
            sum->instructions += own->executed - f->before;
    }
    lathe_free(counts);
}

static void add_nodes(Total *total, Node *root) {
    if (root && !total->root)
        total->root = total->last_node = lathe_alloc(sizeof(Node));
    for (Node *n = root; n; n = n->made) {
        n->merged = n == root ? total->root : callee_of(n->caller->merged, n->function, &total->last_node);
        n->merged->cost += n->cost;
    }
}

static void add_thread(Total *total, Own *own) {
    own->executed = lathe_counted(own->counted);
    add_sums(total, own->sums, own->room);
    add_frames(total, own);
    if (own->node)
        go_to_node(own, own->node);
    add_nodes(total, own->root);
}

static void free_nodes(Node *root) {
    for (Node *n = root, *next; n; n = next) {
        next = n->made;
        lathe_free(n);
    }
}

static void end_thread(Own *own) {
    lathe_lock(&live_lock);
    live_remove(own);
    add_thread(&ended, own);
    lathe_unlock(&live_lock);
    lathe_free(own->counts);
    lathe_free(own->nodes);
    lathe_free(own->frames);
    lathe_free(own->links);
    lathe_free(own->places);
    free_nodes(own->root);
}

static Total take_total(void) {
    Total total = {0};
    lathe_lock(&live_lock);
    add_sums(&total, ended.sums, ended.room);
    add_nodes(&total, ended.root);
    for (size_t i = 0; i < live.count; i++)
        add_thread(&total, ((Own **)live.at)[i]);
    lathe_unlock(&live_lock);
    return total;
}

static void free_total(Total *total) {
    lathe_free(total->sums);
    free_nodes(total->root);
    *total = (Total){0};
}

#endif
