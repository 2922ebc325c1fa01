/* memtrace.c: writes down each access to memory that a program makes, in order, to the file memtrace.PID.
 *
 * The file begins with 16 bytes: "lathemem", the version (2) and the bytes of a record (16), as 32-bit numbers. Then come pieces, each the work of one
 * thread: the thread's number (32 bits; threads are numbered from 0 in the order in which they begin), how many records follow (32 bits), and these. The pieces of a
 * thread are in order; those of different threads are written when a buffer is full or the thread ends, which says nothing about who was first.
 *
 *     8 bytes   the address
 *     8 bytes   bits 0 to 47: the address of the instruction, without its upper 16 bits
 *               bits 49 to 63: the bytes of the access; bit 48: 0 a load, 1 a store
 *
 * All numbers are little-endian. A load comes before the store of the same instruction. Options: out=FILE: the file's name, %p in it being the number of the process;
 * text: one line for each access instead, with the thread's number:
 *
 *     0 load 0x7ffd3c0d1f50 8 0x401136 */
#include <lathe/tool.h>

enum { RECORDS = 1 << 14 }; /* in the buffer of a thread: 256 KiB, which stay in caches */

/* What is known when code is translated is stored as it is: `about` takes the place of the upper bits of pc. */
typedef struct Record {
    uint64_t address;
    union {
        uint64_t pc;
        uint16_t about[4]; /* the last one */
    };
} Record;

enum { ABOUT = 3 };
#define PC_BITS ((1ul << 48) - 1)

typedef struct Head {
    uint32_t thread, count;
} Head;

typedef struct Buffer {
    struct Buffer *next;
    Record **at;   /* the word of the thread that says how far the buffer is full */
    Record *begin; /* what comes before it is written */
    uint32_t thread;
    Record record[RECORDS];
} Buffer;

/* What a thread has in its own words. */
typedef struct Own {
    Record *at, *end;
    Buffer *buffer;
} Own;

static LatheLock lock; /* of all that follows, and of `begin` */
static LatheFile *out;
static bool text;
static uint32_t threads;
static Buffer *buffers; /* of the threads that there are */

static void print(const Buffer *b, const Record *r) {
    unsigned about = r->about[ABOUT];
    lathe_fprint(out, "%u %s 0x%lx %u 0x%lx\n", b->thread, about & 1 ? "store" : "load", r->address, about >> 1,
                 r->pc & PC_BITS);
}

static void write_records(const Buffer *b, uint32_t count) {
    Head head = {b->thread, count};
    for (uint32_t i = 0; text && i < count; i++)
        print(b, &b->begin[i]);
    if (text)
        return;
    lathe_write(out, &head, sizeof(head));
    lathe_write(out, b->begin, count * sizeof(Record));
}

/* Writes what the buffer has; the thread that it is of may be adding to it. */
static void write_buffer(Buffer *b) {
    Record *end = __atomic_load_n(b->at, __ATOMIC_ACQUIRE);
    if (end > b->begin)
        write_records(b, (uint32_t)(end - b->begin));
    b->begin = end;
}

static Buffer *new_buffer(Own *own) {
    Buffer *b = lathe_alloc(sizeof(Buffer));
    b->thread = threads++;
    b->at = &own->at;
    b->next = buffers;
    return buffers = b;
}

/* The thread has no room left, or has just begun. */
static void make_room(Own *own) {
    lathe_lock(&lock);
    if (own->buffer)
        write_buffer(own->buffer);
    else
        own->buffer = new_buffer(own);
    own->at = own->buffer->begin = own->buffer->record;
    own->end = own->at + RECORDS;
    lathe_unlock(&lock);
}

static inline void put(Own *own, uint64_t address, uint64_t pc, uint64_t about) {
    Record *r = own->at;
    r->address = address;
    *(volatile uint64_t *)&r->pc = pc;
    *(volatile uint16_t *)&r->about[ABOUT] = (uint16_t)about;
    __atomic_store_n(&own->at, r + 1, __ATOMIC_RELEASE);
}

static __attribute__((noinline, cold)) void make_room_and_put(Own *own, uint64_t address, uint64_t pc, uint64_t about) {
    make_room(own);
    put(own, address, pc, about);
}

/* The values are in the order of the hooks, so that they need not be moved for the call. */
static inline void add(Own *own, uint64_t address, uint64_t pc, uint64_t about) {
    if (__builtin_expect(own->at == own->end, 0))
        make_room_and_put(own, address, pc, about);
    else
        put(own, address, pc, about);
}

static void load(Own *own, uint64_t address, uint64_t pc, uint64_t bytes) {
    add(own, address, pc, bytes << 1);
}

static void store(Own *own, uint64_t address, uint64_t pc, uint64_t bytes) {
    add(own, address, pc, bytes << 1 | 1);
}

/* The buffers that a copy of the program finds are those of the one that made it, which writes them itself. */
static void forget_buffers(Own *own) {
    for (Buffer *b; (b = buffers);) {
        buffers = b->next;
        lathe_free(b);
    }
    *own = (Own){0};
    threads = 0;
}

static void start(Own *own) {
    static const struct {
        char magic[8];
        uint32_t version, record;
    } head = {"lathemem", 2, sizeof(Record)};
    const char *name = lathe_option("out");
    text = lathe_option("text") != NULL;
    forget_buffers(own);
    make_room(own);
    if (!out)
        out = lathe_open(name ? name : "memtrace.%p");
    if (!text)
        lathe_write(out, &head, sizeof(head));
}

static void take_out(Buffer *b) {
    Buffer **at = &buffers;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    lathe_free(b);
}

static void thread_end(Own *own) {
    lathe_lock(&lock);
    if (own->buffer) {
        write_buffer(own->buffer);
        take_out(own->buffer);
        *own = (Own){0};
    }
    lathe_unlock(&lock);
}

/* Other threads may still run; what they do from now on is lost. If the program goes on, because exec has failed, they go on behind what is written. */
static void end(void) {
    lathe_lock(&lock);
    for (Buffer *b = buffers; b; b = b->next)
        write_buffer(b);
    lathe_unlock(&lock);
}

LATHE_HOOKS(LATHE_ON(LATHE_START, start, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_LOAD, load, {LATHE_THREAD_OWN}, {LATHE_ADDRESS}, {LATHE_PC}, {LATHE_BYTES}),
            LATHE_ON(LATHE_STORE, store, {LATHE_THREAD_OWN}, {LATHE_ADDRESS}, {LATHE_PC}, {LATHE_BYTES}),
            LATHE_ON(LATHE_THREAD_END, thread_end, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_END, end));
