/* memory.c: lathe_alloc and its companions: memory for tools. Under `lathe run`, the program never sees it.
 *
 * Small blocks have a power of two bytes, head included; what is freed goes to a list of its size and is given out again. Large ones are
 * pages of their own, which go back. */
#include "tool/library/library.h"

enum { SMALLEST = 32, LARGEST = 64 << 10, SIZES = 12, PIECE = 1 << 20, PAGE_BYTES = 4096 };
_Static_assert(SMALLEST << (SIZES - 1) == LARGEST, "a list for each size");

#define MARK_USED 0x6465737570706f6cu
#define MARK_FREE 0x65657266706f6f6cu

/* What is in front of each block. */
typedef struct Block {
    u64 bytes; /* with this head */
    u64 mark;  /* MARK_* */
} Block;

typedef struct FreeBlock {
    Block head;
    struct FreeBlock *next;
} FreeBlock;

typedef struct Heap {
    u32 lock;
    FreeBlock *free[SIZES]; /* of SMALLEST << n bytes each */
    u8 *at, *end;           /* memory that no block was made of yet */
} Heap;

static Heap heap;

static u64 whole_pages(u64 bytes) {
    return (bytes + PAGE_BYTES - 1) & -(u64)PAGE_BYTES;
}

static u32 size_no(u64 bytes) {
    u32 n = 0;
    while ((u64)SMALLEST << n < bytes)
        n++;
    return n;
}

/* Memory is taken when it is used: a tool may have a table for all addresses of the program, of which it uses few pages. */
static void *pages(u64 bytes) {
    void *at = tool_pages(bytes);
    if (!at)
        lathe_fail("there is no memory left for %lu bytes", bytes);
    return at;
}

/* Memory of a new block, which is zero. What is left of the former piece is lost: less than a block. */
static Block *cut(u64 bytes) {
    if ((u64)(heap.end - heap.at) < bytes) {
        heap.at = pages(PIECE);
        heap.end = heap.at + PIECE;
    }
    Block *b = (Block *)heap.at;
    heap.at += bytes;
    b->bytes = bytes;
    return b;
}

static Block *take(u32 n) {
    lock(&heap.lock);
    FreeBlock *f = heap.free[n];
    if (f)
        heap.free[n] = f->next;
    Block *b = f ? &f->head : cut((u64)SMALLEST << n);
    unlock(&heap.lock);
    if (f)
        memset(b + 1, 0, b->bytes - sizeof(*b));
    return b;
}

void *lathe_alloc(size_t size) {
    u64 bytes = size + sizeof(Block);
    if (bytes < size)
        lathe_fail("there is no memory for %lu bytes", size);
    Block *b;
    if (bytes <= LARGEST) {
        b = take(size_no(bytes));
    } else {
        b = pages(bytes);
        b->bytes = whole_pages(bytes);
    }
    b->mark = MARK_USED;
    return b + 1;
}

static Block *block_of(void *memory, const char *function) {
    Block *b = (Block *)memory - 1;
    if ((u64)memory % 16 || b->mark != MARK_USED)
        lathe_fail("%s was given %p, which lathe_alloc has not returned, or which is free already", function, memory);
    return b;
}

void lathe_free(void *memory) {
    if (!memory)
        return;
    Block *b = block_of(memory, "lathe_free");
    b->mark = MARK_FREE;
    if (b->bytes > LARGEST) {
        tool_pages_free(b, b->bytes);
        return;
    }
    u32 n = size_no(b->bytes);
    FreeBlock *f = (FreeBlock *)b;
    lock(&heap.lock);
    f->next = heap.free[n];
    heap.free[n] = f;
    unlock(&heap.lock);
}

/* The system forgets whole pages, which are zero when they are used again. */
void lathe_clear(void *memory, size_t size) {
    enum { FEW = 16 << 10 };
    u64 from = (u64)memory, to = from + size, first = whole_pages(from), last = to & -(u64)PAGE_BYTES;
    if (size < FEW || !tool_pages_clear((void *)first, last - first)) {
        memset(memory, 0, size);
        return;
    }
    memset(memory, 0, first - from);
    memset((void *)last, 0, to - last);
}

/* Bytes behind what was asked for are zero, too, unless a block was made smaller: then they are cleared here. */
void *lathe_resize(void *memory, size_t size) {
    if (!memory)
        return lathe_alloc(size);
    Block *b = block_of(memory, "lathe_resize");
    u64 room = b->bytes - sizeof(*b);
    if (size <= room) {
        memset((u8 *)memory + size, 0, room - size);
        return memory;
    }
    void *larger = lathe_alloc(size);
    memcpy(larger, memory, room);
    lathe_free(memory);
    return larger;
}

void tool_memory_lock(void) {
    lock(&heap.lock);
}

void tool_memory_unlock(void) {
    unlock(&heap.lock);
}
