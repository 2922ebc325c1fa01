/* program.c: where a raised program begins and ends for its tools, and what these ask about it. */
#include "raise/runtime/tool/runtime.h"

static const ToolFacts *const facts = &lathe_tool_facts;

/* The tool's hooks, as its object has them. */
extern const LatheHook lathe_hooks[] __attribute__((visibility("hidden")));

static struct {
    bool begun;
    u32 ended;
    int process; /* that has begun, of which others are children of vfork */
    pthread_key_t own;
    char path[4096];
} program;

/* ---------------------------------------------------------------------------------------------------------------- memory */

void *tool_pages(u64 bytes) {
    void *at = LIBC(mmap)(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

void tool_pages_free(void *pages, u64 bytes) {
    LIBC(munmap)(pages, bytes);
}

bool tool_pages_clear(void *pages, u64 bytes) {
    return !LIBC(madvise)(pages, bytes, MADV_DONTNEED);
}

bool lathe_read_guest(void *to, uint64_t address, size_t size) {
    int before = *LIBC(__errno_location)();
    struct iovec here = {to, size}, there = {(void *)address, size};
    ssize_t got = size ? LIBC(process_vm_readv)(LIBC(getpid)(), &here, 1, &there, 1, 0) : 0;
    *LIBC(__errno_location)() = before;
    return got == (ssize_t)size;
}

bool lathe_read_string(char *to, uint64_t address, size_t size) {
    size_t got = 0;
    while (got + 1 < size && lathe_read_guest(to + got, address + got, 1) && to[got])
        got++;
    if (!size)
        return false;
    bool whole = got + 1 == size || (lathe_read_guest(to + got, address + got, 1) && !to[got]);
    to[got] = 0;
    return whole;
}

/* --------------------------------------------------------------------------------------------------------------- threads */

u64 lathe_tool_thread_id(void);
u64 lathe_tool_thread_own(u64 off);

u64 lathe_tool_thread_id(void) {
    return (u64)LIBC(gettid)();
}

/* A function of this file has an address here. */
static void free_words(void *words) {
    lathe_free(words);
}

u64 lathe_tool_thread_own(u64 off) {
    u8 *words = LIBC(pthread_getspecific)(program.own);
    if (!words) {
        words = lathe_alloc(TOOLS_MAX * LATHE_OWN_WORDS * sizeof(u64));
        LIBC(pthread_setspecific)(program.own, words);
    }
    return (u64)words + off;
}

/* ----------------------------------------------------------------------------------------------------- beginning and end */

static u64 value_of(const LatheValue *v, const ToolFactsPart *part) {
    switch (v->what) {
    case LATHE_CONSTANT:
        return (u64)v->number;
    case LATHE_THREAD_ID:
        return lathe_tool_thread_id();
    case LATHE_THREAD_OWN:
        return lathe_tool_thread_own((u64)v->number);
    case LATHE_ADDRESS:
        return part ? (u64)facts->image + part->at : 0;
    case LATHE_BYTES:
        return part ? part->bytes : 0;
    case LATHE_NAME:
        return (u64)program.path;
    case LATHE_OFFSET:
        return part ? part->offset : 0;
    default:
        return 0;
    }
}

typedef void Function(u64, u64, u64, u64, u64, u64);

static void tell(LatheEvent event, const ToolFactsPart *part) {
    for (const LatheHook *h = lathe_hooks; h->event; h++) {
        u64 v[LATHE_VALUES];
        if (h->event != event)
            continue;
        for (u32 i = 0; i < LATHE_VALUES; i++)
            v[i] = value_of(&h->value[i], part);
        ((Function *)h->call)(v[0], v[1], v[2], v[3], v[4], v[5]);
    }
}

static void before_fork(void) {
    locks_close();
    output_lock();
    output_flush();
    tool_memory_lock();
}

static void after_fork(void) {
    tool_memory_unlock();
    output_unlock();
    locks_open();
}

static void in_child(void) {
    after_fork();
    program.process = LIBC(getpid)();
    counts_after_fork();
    output_after_fork();
    tell(LATHE_START, NULL);
}

static void find_path(void) {
    ssize_t len = LIBC(readlink)("/proc/self/exe", program.path, sizeof(program.path) - 1);
    program.path[len > 0 ? len : 0] = 0;
}

void lathe_tool_begins(void);
void lathe_tool_ends(void);

void lathe_tool_begins(void) {
    if (program.begun)
        return;
    program.begun = true;
    program.process = LIBC(getpid)();
    find_path();
    output_begin();
    LIBC(pthread_key_create)(&program.own, free_words);
    LIBC(__register_atfork)(before_fork, after_fork, in_child, NULL);
    tool_options_init(facts->options);
    tell(LATHE_START, NULL);
    tool_options_check();
    for (u64 i = 0; i < facts->part_count; i++)
        tell(LATHE_MODULE, &facts->parts[i]);
}

/* A child of vfork, which has its parent's memory, does not end the program. */
void lathe_tool_ends(void) {
    int before = *LIBC(__errno_location)();
    if (!program.begun || LIBC(getpid)() != program.process || __atomic_exchange_n(&program.ended, 1, __ATOMIC_SEQ_CST))
        return;
    tell(LATHE_END, NULL);
    output_lock();
    output_flush();
    output_unlock();
    *LIBC(__errno_location)() = before;
}

/* ------------------------------------------------------------------------------------------------------------- questions */

const char *lathe_program(void) {
    return program.path;
}

uint64_t lathe_process(void) {
    return (u64)LIBC(getpid)();
}

uint64_t lathe_nanoseconds(void) {
    struct timespec now;
    LIBC(clock_gettime)(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

const char *lathe_opcode_name(uint64_t opcode) {
    return opcode < facts->opcode_count ? facts->opcodes[opcode] : "?";
}

/* How many functions begin at an address or before. */
static u64 symbols_up_to(u64 at) {
    u64 low = 0, high = facts->symbol_count;
    while (low < high) {
        u64 middle = (low + high) / 2;
        if (facts->symbols[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The function that an address is in; NULL: it is not known. */
static const ToolFactsSymbol *symbol_at(u64 at) {
    u64 low = symbols_up_to(at);
    const ToolFactsSymbol *s = low ? &facts->symbols[low - 1] : NULL;
    return s && at - s->at < s->room ? s : NULL;
}

static bool is_code(u64 at) {
    for (u64 i = 0; i < facts->part_count; i++)
        if (at - facts->parts[i].at < facts->parts[i].bytes)
            return true;
    return false;
}

bool lathe_symbol(uint64_t address, LatheSymbol *out) {
    u64 at = address - (u64)facts->image;
    bool known = is_code(at);
    const ToolFactsSymbol *s = known ? symbol_at(at) : NULL;
    *out =
        (LatheSymbol){.name = "?", .file = known ? program.path : "?", .address = known ? facts->base + at : address};
    if (!s)
        return false;
    out->name = s->name, out->offset = at - s->at, out->size = s->bytes;
    return true;
}

void lathe_extent(uint64_t address, uint64_t *from, uint64_t *to) {
    u64 at = address - (u64)facts->image, count = symbols_up_to(at), start = at, end = at + 1;
    const ToolFactsSymbol *last = count ? &facts->symbols[count - 1] : NULL, *inside = symbol_at(at);
    for (u64 i = 0; i < facts->part_count; i++)
        if (at - facts->parts[i].at < facts->parts[i].bytes)
            start = facts->parts[i].at, end = start + facts->parts[i].bytes;
    u64 from_last = inside ? inside->at : last ? last->at + last->room : 0;
    u64 to_next = inside ? inside->at + inside->room : end;
    if (is_code(at) && count < facts->symbol_count && facts->symbols[count].at < to_next)
        to_next = facts->symbols[count].at;
    *from = address - (at - (from_last > start ? from_last : start));
    *to = address + ((to_next < end ? to_next : end) - at);
}

/* Debug information is the old file's, and its reader is Lathe's. */
bool lathe_line(uint64_t address, LatheLine *out) {
    *out = (LatheLine){.file = "?", .end = address};
    return false;
}

bool lathe_source(const char *file, unsigned line, char *text, size_t size) {
    (void)file, (void)line;
    if (size)
        *text = 0;
    return false;
}

const char *lathe_demangle(const char *name) {
    return name;
}
