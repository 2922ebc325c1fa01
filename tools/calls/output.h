/* output.h: the totals as folded stacks, or as callgrind writes them. */
#ifndef CALLS_OUTPUT_H
#define CALLS_OUTPUT_H

#include "totals.h"

/* --------------------------------------------------------------------------------------------------------- folded output */

static void write_stack(LatheFile *out, const Node *n, LatheVector *path) {
    path->count = 0;
    for (const Node *at = n; at->caller; at = at->caller)
        *(const char **)lathe_vector_add(path) = function_no(at->function)->name->text;
    for (size_t i = path->count; i-- > 0;)
        lathe_fprint(out, "%s%s", ((const char **)path->at)[i], i ? ";" : "");
    lathe_fprint(out, " %lu\n", n->cost);
}

static void write_folded(LatheFile *out, const Total *total) {
    LatheVector path = LATHE_VECTOR(const char *);
    name_functions();
    for (const Node *n = total->root; n; n = n->made)
        if (n->cost && n->caller)
            write_stack(out, n, &path);
    lathe_vector_clear(&path);
}

/* ------------------------------------------------------------------------------------------------------ callgrind output */

/* What an item is about: instructions that were executed at a place, or calls from there. */
typedef struct Cost {
    uint64_t instructions;
    uint64_t calls;
    const Function *called; /* NULL: it is about no calls */
} Cost;

static LatheMap own_costs = LATHE_MAP(Cost); /* by the addresses of instructions */

/* If the code of a block has changed, it may have had another number of instructions at times: the sum is right in any case. */
static void add_block(const Block *b, uint64_t pc, uint64_t executed) {
    uint64_t passes = b->count ? executed / b->count : 0, rest = executed - passes * b->count;
    ((Cost *)lathe_map_at(&own_costs, pc))->instructions += rest;
    for (uint64_t i = 0; i < b->count; i++) {
        ((Cost *)lathe_map_at(&own_costs, pc))->instructions += passes;
        pc += b->insn[i].size;
    }
}

static uint64_t collect_blocks(void) {
    uint64_t sum = 0;
    lathe_map_clear(&own_costs);
    for (LatheRow r = {0}; lathe_table_next(&passes, &r);) {
        uint64_t pc = r.key[0], executed = r.key[1] * r.total;
        add_block(block_at(pc, r.key[1]), pc, executed);
        sum += executed;
    }
    for (LatheWalk w = {0}; lathe_map_next(&own_costs, &w);)
        item_add(w.key, w.value);
    return sum;
}

/* Returns what the items refer to. */
static Cost *collect_edges(const Total *total) {
    uint64_t count = total->room < edges.count ? total->room : edges.count;
    Cost *costs = lathe_alloc((count + 1) * sizeof(Cost));
    for (uint64_t i = 0; i < count; i++) {
        const Edge *edge = ((Edge **)edges.at)[i];
        costs[i] = (Cost){total->sums[i].instructions, total->sums[i].calls, function_no(edge->function)};
        if (costs[i].calls)
            item_add(edge->pc, &costs[i]);
    }
    return costs;
}

/* A name is written out once for each kind; later its number stands for it. */
enum { AS_OBJECT = 1, AS_FILE = 2, AS_FUNCTION = 4 };

static void write_name(LatheFile *out, const char *key, Name *name, unsigned kind) {
    bool known = name->written & kind;
    lathe_fprint(out, "%s=(%lu)%s%s\n", key, name->id, known ? "" : " ", known ? "" : name->text);
    name->written |= kind;
}

static void write_call(LatheFile *out, const Item *item, const Cost *cost) {
    write_name(out, "cob", cost->called->object, AS_OBJECT);
    write_name(out, "cfi", cost->called->file, AS_FILE);
    write_name(out, "cfn", cost->called->name, AS_FUNCTION);
    lathe_fprint(out, "calls=%lu %lu\n%lu %lu\n", cost->calls, cost->called->line, item->line, cost->instructions);
}

/* What is new since the last line that was written: the function, or only the file. */
static void write_head(LatheFile *out, const Item *item, const Item *last) {
    if (!last || last->function != item->function) {
        lathe_fprint(out, "\n");
        write_name(out, "ob", item->function->object, AS_OBJECT);
        write_name(out, "fl", item->function->file, AS_FILE);
        write_name(out, "fn", item->function->name, AS_FUNCTION);
        last = NULL;
    }
    if (item->file != (last ? last->file : item->function->file))
        write_name(out, "fi", item->file, AS_FILE);
}

/* All items of one line, which are `count`. */
static void write_line(LatheFile *out, const Item *item, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const Cost *cost = item[i].what;
        sum += cost->called ? 0 : cost->instructions;
    }
    if (sum)
        lathe_fprint(out, "%lu %lu\n", item->line, sum);
    for (size_t i = 0; i < count; i++) {
        const Cost *cost = item[i].what;
        if (cost->called)
            write_call(out, &item[i], cost);
    }
}

static void write_items(LatheFile *out) {
    const Item *item = items.at, *last = NULL;
    for (size_t i = 0, count; i < items.count; i += count) {
        for (count = 1; i + count < items.count && same_line(&item[i], &item[i + count]);)
            count++;
        write_head(out, &item[i], last);
        write_line(out, &item[i], count);
        last = &item[i];
    }
}

static void write_callgrind(LatheFile *out, const Total *total) {
    items_begin();
    uint64_t sum = collect_blocks();
    Cost *calls = collect_edges(total);
    items_sort();
    lathe_fprint(out, "# callgrind format\nversion: 1\ncreator: lathe\npid: %lu\n", lathe_process());
    write_command(out);
    lathe_fprint(out, "part: 1\npositions: line\nevents: Ir\nsummary: %lu\n", sum);
    write_items(out);
    lathe_fprint(out, "\ntotals: %lu\n", sum);
    lathe_free(calls);
}

#endif
