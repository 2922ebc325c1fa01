/* allocator.h: what is done when functions of the allocator begin and return. */
#ifndef MEMCHECK_ALLOCATOR_H
#define MEMCHECK_ALLOCATOR_H

#include "undefined.h"

/* Blocks that are smaller always move when their size changes. */
enum { MOVED_MOST = 256 << 10 };

static void report_free(Thread *t, ErrorKind kind, const Call *c, uint64_t pc) {
    const Stack *s = stack_at(t, pc, c->sp);
    if (!report_begin(kind, s))
        return;
    SAY("%s free() / delete / delete[] / realloc()%s", kind == MISMATCHED_FREE ? "Mismatched" : "Invalid",
        kind == DOUBLE_FREE ? ": the block was freed before" : "");
    say_stack(s, NULL);
    say_where(t, c->arg[0], c->sp);
    report_end();
}

/* The block that the program wants to free, which is taken; NULL: there is none, which was reported. */
static Block *take(Thread *t, const Call *c, uint64_t pc) {
    Block *b = block_at(c->arg[0]);
    if (block_take(b))
        return b;
    report_free(t, b && b->state == BLOCK_FREED ? DOUBLE_FREE : INVALID_FREE, c, pc);
    return NULL;
}

/* The allocator looks at what is in a block that is free. */
static void free_block(Block *b, const Stack *stack) {
    block_free(b, stack);
    define(b->start, b->size);
}

/* Whoever is called by delete does not free for itself. */
static bool in_delete(const Thread *t, const Call *c) {
    for (uint64_t i = 0; &t->call[i] < c; i++)
        if (t->call[i].what == DELETE || t->call[i].what == DELETE_ARRAY)
            return true;
    return false;
}

static void check_family(Thread *t, const Call *c, uint64_t pc, Family family) {
    const Block *b = block_at(c->arg[0]);
    if (b && b->state == BLOCK_LIVE && b->family != family && !in_delete(t, c))
        report_free(t, MISMATCHED_FREE, c, pc);
}

/* ----------------------------------------------------------------------------------------------------------- beginnings */

static void enter_free(Thread *t, const Call *c, uint64_t pc) {
    if (!c->arg[0])
        return;
    check_family(t, c, pc, FAMILY_MALLOC);
    Block *b = take(t, c, pc);
    if (b)
        free_block(b, stack_at(t, pc, c->sp));
    if (b && b->size > queue_bytes_most)
        return;
    lathe_set_arg(0, b ? quarantine_release(b) : 0);
    if (b)
        quarantine_add(b);
}

/* Argument number `index` is a size; what is asked for is larger by the red zone. */
static void enlarge(unsigned index, uint64_t size) {
    if (size < 1ul << ADDRESS_BITS)
        lathe_set_arg(index, size + RED_ZONE);
}

/* The product of two arguments, of which the first one becomes 1; too large if it overflows, and then the allocator refuses. */
static uint64_t product(const Call *c, unsigned index) {
    uint64_t size;
    if (__builtin_mul_overflow(c->arg[index], c->arg[index + 1], &size))
        return ~0ul;
    lathe_set_arg(index, 1);
    lathe_set_arg(index + 1, size);
    return size;
}

/* A small block always moves, so that accesses by its old address are found: the allocator is given another one that was freed before, or none, and leave_realloc copies what is in
 * the block. Of a larger one, and if the size is 0, only the allocator knows where it is until it returns. */
static void enter_realloc(Thread *t, Call *c, uint64_t pc, unsigned size_index, uint64_t size) {
    Block *b = c->arg[0] ? take(t, c, pc) : NULL;
    c->arg[0] = (uint64_t)b;
    c->arg[1] = b && size && size < MOVED_MOST && b->size < MOVED_MOST; /* it moves */
    c->arg[2] = size;
    if (!b || size)
        enlarge(size_index, size);
    if (!b || c->arg[1])
        lathe_set_arg(0, b ? quarantine_release(b) : 0);
    else
        free_block(b, stack_at(t, pc, c->sp));
}

/* The size that is asked for becomes arg[2]. */
static void enter_allocation(Call *c, unsigned size_index, uint64_t size) {
    c->arg[2] = size;
    enlarge(size_index, size);
}

static void allocator_enter(Thread *t, Call *c, uint64_t pc) {
    switch ((What)c->what) {
    case MALLOC:
    case VALLOC:
        return enter_allocation(c, 0, c->arg[0]);
    case PVALLOC:
        return enter_allocation(c, 0, (c->arg[0] + PAGE - 1) & -(uint64_t)PAGE);
    case CALLOC:
        return enter_allocation(c, 1, product(c, 0));
    case MEMALIGN:
        return enter_allocation(c, 1, c->arg[1]);
    case POSIX_MEMALIGN:
        return enter_allocation(c, 2, c->arg[2]);
    case REALLOC:
        return enter_realloc(t, c, pc, 1, c->arg[1]);
    case REALLOC_ARRAY:
        return enter_realloc(t, c, pc, 2, product(c, 1));
    case FREE:
        return enter_free(t, c, pc);
    case DELETE:
        return check_family(t, c, pc, FAMILY_NEW);
    case DELETE_ARRAY:
        return check_family(t, c, pc, FAMILY_NEW_ARRAY);
    case USABLE_SIZE:
    case ALLOCATOR_OTHER:
    case NEW:
    case NEW_ARRAY:
    case STRING:
        return;
    }
}

/* -------------------------------------------------------------------------------------------------------------- returns */

/* Of a new block, the first bytes are defined already. */
static void add_block(const Call *c, uint64_t start, uint64_t defined) {
    block_add(start, c->arg[2], (const Stack *)c->about);
    if (defined < c->arg[2])
        undefine(start + defined, c->arg[2] - defined);
}

static void leave_allocation(const Call *c, uint64_t start) {
    if (!start)
        return;
    if (c->what == CALLOC)
        define(start, c->arg[2]);
    add_block(c, start, c->what == CALLOC ? c->arg[2] : 0);
}

static void leave_realloc(const Call *c, uint64_t start) {
    Block *old = (Block *)c->arg[0];
    bool moves = c->arg[1];
    if (!start && old && c->arg[2]) {
        block_restore(old);
        __atomic_fetch_sub(&frees, !moves, __ATOMIC_RELAXED);
    }
    if (!start)
        return;
    uint64_t kept = !old ? 0 : old->size < c->arg[2] ? old->size : c->arg[2];
    if (moves) {
        memcpy((void *)start, (const void *)old->start, kept);
        undefined_copy(start, old->start, kept);
        free_block(old, (const Stack *)c->about);
        quarantine_add(old);
    } else {
        define(start, kept);
    }
    add_block(c, start, kept);
}

static void leave_posix_memalign(const Call *c, uint64_t error) {
    uint64_t start;
    if (!error && lathe_read_guest(&start, c->arg[0], sizeof(start)))
        leave_allocation(c, start);
}

/* operator new may have asked for more than it was asked for. */
static void leave_new(const Call *c, uint64_t start, Family family) {
    Block *b = block_at(start);
    if (!b || b->state != BLOCK_LIVE)
        return;
    b->family = family;
    if (c->arg[0] < b->size)
        block_shrink(b, c->arg[0]);
}

static void allocator_leave(const Call *c, uint64_t result) {
    switch ((What)c->what) {
    case MALLOC:
    case CALLOC:
    case MEMALIGN:
    case VALLOC:
    case PVALLOC:
        return leave_allocation(c, result);
    case POSIX_MEMALIGN:
        return leave_posix_memalign(c, result);
    case REALLOC:
    case REALLOC_ARRAY:
        return leave_realloc(c, result);
    case NEW:
        return leave_new(c, result, FAMILY_NEW);
    case NEW_ARRAY:
        return leave_new(c, result, FAMILY_NEW_ARRAY);
    case FREE:
    case USABLE_SIZE:
    case ALLOCATOR_OTHER:
    case DELETE:
    case DELETE_ARRAY:
    case STRING:
        return;
    }
}

/* At the return of malloc_usable_size: the program may use what it is told that the block has, and that is not the red zone. */
static void leave_usable_size(Thread *t) {
    const Call *c = innermost(t);
    const Block *b = c && c->what == USABLE_SIZE ? block_at(c->arg[0]) : NULL;
    if (b && b->state == BLOCK_LIVE)
        lathe_set_returned(b->size);
}

#endif
