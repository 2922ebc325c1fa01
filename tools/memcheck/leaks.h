/* leaks.h: which blocks nothing points to when the program ends.
 *
 * All memory of the program that can be read, but for the heap itself, and the registers are looked through for addresses of blocks; then the blocks that were
 * found, and so on. A block is reachable if pointers to beginnings lead to it, possibly lost if one on the way points into the middle of a block, else
 * lost: indirectly if another lost block leads to it. */
#ifndef MEMCHECK_LEAKS_H
#define MEMCHECK_LEAKS_H

#include "thread.h"

enum { REGISTERS_MOST = 32 };

typedef enum Loss { LOST, INDIRECT, POSSIBLE, REACHABLE, LOSSES } Loss;

/* A block that was not freed. */
typedef struct Held {
    const Block *block;
    uint32_t loss;
    bool searched;     /* it is lost, and was looked through before others were found to lead to it */
    uint64_t indirect; /* of one that is lost: bytes that are lost with it */
} Held;

static LatheVector held = LATHE_VECTOR(Held);
static LatheVector found =
    LATHE_VECTOR(uint64_t); /* those whose memory is still to be looked through, by their indices */

static int by_address(const void *a, const void *b) {
    uint64_t x = ((const Held *)a)->block->start, y = ((const Held *)b)->block->start;
    return (x > y) - (x < y);
}

static Held *held_no(uint64_t index) {
    return (Held *)held.at + index;
}

static void collect(void) {
    lathe_vector_clear(&held);
    for (LatheWalk w = {0}; lathe_map_next(&blocks, &w);) {
        const Block *b = (const Block *)w.value;
        if (b->state == BLOCK_LIVE)
            ((Held *)lathe_vector_add(&held))->block = b;
    }
    lathe_sort(held.at, held.count, sizeof(Held), by_address);
}

/* The block that an address is in, or of which it is the beginning. */
static Held *held_at(uint64_t address) {
    uint64_t low = 0, high = held.count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (held_no(middle)->block->start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    const Block *b = held_no(low - 1)->block;
    return address == b->start || address < b->start + b->size ? held_no(low - 1) : NULL;
}

/* An array of objects with destructors begins with their number; the program points behind it. */
static bool is_start(const Block *b, uint64_t address) {
    return address == b->start || (b->family == FAMILY_NEW_ARRAY && address == b->start + sizeof(uint64_t));
}

static void push(Held *h) {
    *(uint64_t *)lathe_vector_add(&found) = (uint64_t)(h - held_no(0));
}

typedef void Visit(Held *h, bool start, void *user);

/* Calls `visit` for each word of the memory that is the address of a block. What can be read is looked at, nothing else. */
static void scan(uint64_t from, uint64_t to, Visit *visit, void *user) {
    uint64_t words[PAGE / 8], first = held_no(0)->block->start, last = held_no(held.count - 1)->block->start;
    last += held_no(held.count - 1)->block->size;
    for (uint64_t at = (from + 7) & -8ul, next; at + 8 <= to; at = next) {
        next = (at & -(uint64_t)PAGE) + PAGE;
        uint64_t bytes = (next < to ? next : to & -8ul) - at;
        if (!lathe_read_guest(words, at, bytes))
            continue;
        for (uint64_t i = 0; i < bytes / 8; i++) {
            Held *h = words[i] >= first && words[i] <= last ? held_at(words[i]) : NULL;
            if (h)
                visit(h, is_start(h->block, words[i]), user);
        }
    }
}

static void scan_found(Visit *visit, void *user) {
    for (uint64_t i = 0; i < found.count; i++) {
        const Block *b = held_no(((uint64_t *)found.at)[i])->block;
        scan(b->start, b->start + b->size, visit, user);
    }
    lathe_vector_clear(&found);
}

/* First everything that is reachable by beginnings. What else is pointed to is noted, and looked through later. */
static void visit_reachable(Held *h, bool start, void *user) {
    (void)user;
    if (h->loss == REACHABLE)
        return;
    h->loss = start ? REACHABLE : POSSIBLE;
    if (start)
        push(h);
}

static void visit_possible(Held *h, bool start, void *user) {
    (void)start, (void)user;
    if (h->loss != LOST)
        return;
    h->loss = POSSIBLE;
    push(h);
}

/* The end of what has no meaning at an address: a part of a stack that is not used now. */
static uint64_t dead_to(uint64_t at) {
    for (LatheWalk w = {0}; lathe_map_next(&dead_stacks, &w);) {
        const DeadStack *d = (const DeadStack *)w.value;
        if (at >= d->low && at < d->high)
            return d->high;
    }
    return at;
}

/* Memory that is not the heap's: page by page, because an allocator may have parts of a mapping. */
static void scan_mapping(const LatheMapping *m) {
    for (uint64_t at = m->from, next; at < m->to; at = next) {
        uint64_t from = dead_to(at);
        next = (from & -(uint64_t)PAGE) + PAGE;
        if (!*heap_page_of(at))
            scan(from, next < m->to ? next : m->to, visit_reachable, NULL);
    }
}

static void scan_registers(void) {
    for (unsigned i = 0; i < REGISTERS_MOST; i++) {
        uint64_t value = lathe_register(i);
        Held *h = held_at(value);
        if (h)
            visit_reachable(h, is_start(h->block, value), NULL);
    }
}

static void find_reachable(void) {
    LatheMapping m;
    for (uint64_t at = 0; lathe_mapping(at, &m); at = m.to)
        if (m.readable)
            scan_mapping(&m);
    scan_registers();
    scan_found(visit_reachable, NULL);
    for (uint64_t i = 0; i < held.count; i++)
        if (held_no(i)->loss == POSSIBLE)
            push(held_no(i));
    scan_found(visit_possible, NULL);
}

/* What a lost block leads to is lost with it. A block that others were found by before becomes a part of this one, with all of them. */
static void visit_lost(Held *h, bool start, void *user) {
    Held *leader = (Held *)user;
    (void)start;
    if (h == leader || h->loss != LOST)
        return;
    leader->indirect += h->block->size + h->indirect;
    h->loss = INDIRECT;
    h->indirect = 0;
    if (!h->searched)
        push(h);
}

static void find_indirect(void) {
    for (uint64_t i = 0; i < held.count; i++) {
        Held *leader = held_no(i);
        if (leader->loss != LOST)
            continue;
        leader->searched = true;
        push(leader);
        scan_found(visit_lost, leader);
    }
}

/* -------------------------------------------------------------------------------------------------------------- reports */

/* The blocks of one kind that were allocated at one place. */
typedef struct Record {
    const Stack *stack;
    uint32_t loss;
    uint64_t blocks, bytes, indirect;
} Record;

static const char *const loss_names[LOSSES] = {"definitely lost", "indirectly lost", "possibly lost",
                                               "still reachable"};

static LatheVector records = LATHE_VECTOR(Record);

static Record *record_of(const Stack *stack, uint32_t loss) {
    Record *all = (Record *)records.at;
    for (uint64_t i = 0; i < records.count; i++)
        if (all[i].stack == stack && all[i].loss == loss)
            return &all[i];
    Record *r = (Record *)lathe_vector_add(&records);
    r->stack = stack;
    r->loss = loss;
    return r;
}

static int by_bytes(const void *a, const void *b) {
    uint64_t x = ((const Record *)a)->bytes + ((const Record *)a)->indirect;
    uint64_t y = ((const Record *)b)->bytes + ((const Record *)b)->indirect;
    return (x > y) - (x < y);
}

static void make_records(void) {
    lathe_vector_clear(&records);
    for (uint64_t i = 0; i < held.count; i++) {
        const Held *h = held_no(i);
        Record *r = record_of(h->block->allocated, h->loss);
        r->blocks++;
        r->bytes += h->block->size;
        r->indirect += h->indirect;
    }
    lathe_sort(records.at, records.count, sizeof(Record), by_bytes);
}

static void say_record(const Record *r) {
    SAY();
    if (r->indirect)
        SAY("%lu (%lu direct, %lu indirect) bytes in %lu blocks are %s", r->bytes + r->indirect, r->bytes, r->indirect,
            r->blocks, loss_names[r->loss]);
    else
        SAY("%lu bytes in %lu blocks are %s", r->bytes, r->blocks, loss_names[r->loss]);
    say_stack(r->stack, NULL);
}

static void say_summary(void) {
    SAY();
    SAY("LEAK SUMMARY:");
    for (unsigned loss = 0; loss < LOSSES; loss++) {
        uint64_t blocks_of = 0, bytes = 0;
        for (uint64_t i = 0; i < records.count; i++) {
            const Record *r = (const Record *)records.at + i;
            blocks_of += r->loss == loss ? r->blocks : 0;
            bytes += r->loss == loss ? r->bytes : 0;
        }
        SAY("   %s: %lu bytes in %lu blocks", loss_names[loss], bytes, blocks_of);
    }
}

/* For the thread that ends the program, what is below the stack pointer has no meaning either. */
static void find_leaks(const Thread *t, uint64_t sp) {
    collect();
    if (!held.count)
        return;
    if (sp > t->stack_low && sp <= t->stack_high)
        *(DeadStack *)lathe_map_at(&dead_stacks, t->stack_low) = (DeadStack){t->stack_low, sp};
    find_reachable();
    find_indirect();
    make_records();
}

#endif
