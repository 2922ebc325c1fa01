/* heap.h: the blocks that the program has from its allocator, and what is near an address. */
#ifndef MEMCHECK_HEAP_H
#define MEMCHECK_HEAP_H

#include "report.h"
#include "shadow.h"

/* More than that is between the end of a block and the beginning of the next one. */
enum { RED_ZONE = 24, RED_ZONE_BEFORE = 16 };
enum { SIZE_CLASSES = 64 };

typedef enum Family { FAMILY_MALLOC, FAMILY_NEW, FAMILY_NEW_ARRAY } Family;
typedef enum State {
    BLOCK_NONE,
    BLOCK_LIVE,
    BLOCK_FREED, /* by the program; the allocator does not know it yet, or has not given out the memory again */
} State;

typedef struct Block {
    uint64_t start, size;
    uint32_t state, family;
    const Stack *allocated, *freed;
    struct Block *next; /* the one that was freed after it and is in the same queue */
} Block;

static LatheMap blocks = LATHE_MAP(Block); /* by their beginnings */
static LatheLock heap_lock;
static uint64_t allocations, frees, bytes_allocated;

static Block *block_at(uint64_t start) {
    return (Block *)lathe_map_find(&blocks, start);
}

static void block_add(uint64_t start, uint64_t size, const Stack *stack) {
    Block *b = (Block *)lathe_map_at(&blocks, start);
    uint64_t end = (start + size + 7) & -8ul;
    *b = (Block){.start = start, .size = size, .state = BLOCK_LIVE, .allocated = stack};
    shadow_forbid(start - RED_ZONE_BEFORE, start, TAG_HEAP);
    shadow_forbid(end, end + RED_ZONE, TAG_HEAP);
    shadow_allow(start, size);
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&bytes_allocated, size, __ATOMIC_RELAXED);
}

static void block_shrink(Block *b, uint64_t size) {
    shadow_forbid((b->start + size + 7) & -8ul, (b->start + b->size + 7) & -8ul, TAG_HEAP);
    shadow_allow(b->start, size);
    b->size = size;
}

/* Of several threads that free a block, one gets true. */
static bool block_take(Block *b) {
    uint32_t live = BLOCK_LIVE;
    return b && __atomic_compare_exchange_n(&b->state, &live, BLOCK_FREED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* A block that was taken. */
static void block_free(Block *b, const Stack *stack) {
    b->freed = stack;
    shadow_forbid(b->start, (b->start + b->size + 7) & -8ul, TAG_FREED);
    __atomic_fetch_add(&frees, 1, __ATOMIC_RELAXED);
}

/* The allocator has not freed it after all. */
static void block_restore(Block *b) {
    shadow_allow(b->start, b->size);
    __atomic_store_n(&b->state, BLOCK_LIVE, __ATOMIC_RELEASE);
}

/* ----------------------------------------------------------------------------------------------------------- quarantine */

/* What the program frees is kept from the allocator for a while, so that accesses to it are found. There is a queue for each size, up to powers of two: each time that a block
 * enters one that is full, the oldest one leaves, and what leaves is about as large as what enters. */
typedef struct Queue {
    Block *oldest, *newest;
    uint64_t bytes;
} Queue;

static Queue queues[SIZE_CLASSES];
static uint64_t queue_bytes_most;

static Block *queue_take(Queue *q) {
    Block *b = q->oldest;
    q->oldest = b->next;
    if (!q->oldest)
        q->newest = NULL;
    q->bytes -= b->size;
    return b;
}

static void queue_add(Queue *q, Block *b) {
    b->next = NULL;
    if (q->newest)
        q->newest->next = b;
    else
        q->oldest = b;
    q->newest = b;
    q->bytes += b->size;
}

static Queue *queue_of(const Block *b) {
    return &queues[63 - __builtin_clzl(b->size | 1)];
}

/* The beginning of a block that makes room in the queue of another one, and becomes the allocator's; 0: there is room. */
static uint64_t quarantine_release(const Block *b) {
    Queue *q = queue_of(b);
    lathe_lock(&heap_lock);
    uint64_t start = q->oldest && q->bytes + b->size > queue_bytes_most ? queue_take(q)->start : 0;
    lathe_unlock(&heap_lock);
    return start;
}

static void quarantine_add(Block *b) {
    lathe_lock(&heap_lock);
    queue_add(queue_of(b), b);
    lathe_unlock(&heap_lock);
}

/* ------------------------------------------------------------------------------------------------------------- near what */

static uint64_t distance(const Block *b, uint64_t address) {
    if (address < b->start)
        return b->start - address;
    return address < b->start + b->size ? 0 : address - (b->start + b->size) + 1;
}

static const Block *block_near(uint64_t address) {
    const Block *best = NULL;
    for (LatheWalk w = {0}; lathe_map_next(&blocks, &w);) {
        const Block *b = (const Block *)w.value;
        uint64_t d = distance(b, address), least = best ? distance(best, address) : PAGE;
        if (b->state != BLOCK_NONE && (d < least || (d == least && best && b->state == BLOCK_LIVE)))
            best = b;
    }
    return best;
}

static void say_address(uint64_t address) {
    const Block *b = block_near(address);
    if (!b) {
        SAY(" Address 0x%lx is not in a block of the heap, nor near one", address);
        return;
    }
    uint64_t end = b->start + b->size;
    SAY(" Address 0x%lx is %lu bytes %s a block of size %lu %s", address,
        address < b->start ? b->start - address
        : address < end    ? address - b->start
                           : address - end,
        address < b->start ? "before"
        : address < end    ? "inside"
                           : "after",
        b->size, b->state == BLOCK_FREED ? "free'd" : "alloc'd");
    say_stack(b->state == BLOCK_FREED ? b->freed : b->allocated, NULL);
    if (b->state == BLOCK_FREED) {
        SAY(" Block was alloc'd at");
        say_stack(b->allocated, NULL);
    }
}

#endif
