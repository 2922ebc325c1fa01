/* report.h: stacks of calls, and what is printed. */
#ifndef MEMCHECK_REPORT_H
#define MEMCHECK_REPORT_H

#include <lathe/tool.h>
#include <string.h>

enum { FRAMES = 24, FRAMES_OF_PLACE = 4, ERRORS_MOST = 1000 };

/* Stacks are kept once each, and for good. */
typedef struct Stack {
    uint64_t count;
    uint64_t pc[FRAMES]; /* the innermost one first; all others are return addresses */
} Stack;

static LatheMap stacks = LATHE_MAP(Stack);
static LatheMap places = LATHE_MAP(uint64_t); /* how often something was found, by its place */
static LatheLock report_lock;
static LatheFile *out;
static uint64_t error_count, context_count, depth;

typedef enum ErrorKind {
    INVALID_READ,
    INVALID_WRITE,
    INVALID_FREE,
    DOUBLE_FREE,
    MISMATCHED_FREE,
    BAD_ARGUMENT,
    UNDEFINED_JUMP,
    UNDEFINED_ADDRESS,
    UNDEFINED_ARGUMENT,
} ErrorKind;

#define SAY(format, ...) lathe_fprint(out, "==%lu== " format "\n", lathe_process(), ##__VA_ARGS__)

static uint64_t hash_of(const uint64_t *pc, uint64_t count, uint64_t hash) {
    for (uint64_t i = 0; i < count; i++)
        hash = (hash ^ pc[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    return hash;
}

/* Different stacks with one hash would be shown as one; with 64 bits there are none. */
static const Stack *stack_of(const uint64_t *pc, uint64_t count) {
    Stack *s = (Stack *)lathe_map_at(&stacks, hash_of(pc, count, count));
    if (!__atomic_load_n(&s->count, __ATOMIC_ACQUIRE)) {
        memcpy(s->pc, pc, count * sizeof(pc[0]));
        __atomic_store_n(&s->count, count, __ATOMIC_RELEASE);
    }
    return s;
}

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* `inside` is an address of the instruction. */
static void say_frame(const char *how, uint64_t pc, uint64_t inside, const char *name) {
    LatheSymbol symbol;
    LatheLine line;
    bool named = lathe_symbol(inside, &symbol);
    if (!name)
        name = named ? lathe_demangle(symbol.name) : "???";
    if (lathe_line(inside, &line))
        SAY("   %s 0x%lx: %s (%s:%u)", how, pc, name, file_name(line.file), line.line);
    else if (strcmp(symbol.file, "?"))
        SAY("   %s 0x%lx: %s (in %s)", how, pc, name, symbol.file);
    else
        SAY("   %s 0x%lx: %s", how, pc, name);
}

/* The innermost function may have a name that is known better here; else that is NULL. */
static void say_stack(const Stack *s, const char *name) {
    for (uint64_t i = 0; i < s->count; i++)
        say_frame(i ? "by" : "at", s->pc[i], s->pc[i] - !!i, i ? NULL : name);
}

/* Counts an error, and takes the lock for a report if it is the first one of its kind at its place. */
static bool report_begin(ErrorKind kind, const Stack *s) {
    uint64_t frames = s->count < FRAMES_OF_PLACE ? s->count : FRAMES_OF_PLACE;
    uint64_t *times = (uint64_t *)lathe_map_at(&places, hash_of(s->pc, frames, kind));
    uint64_t all = __atomic_add_fetch(&error_count, 1, __ATOMIC_RELAXED);
    if (__atomic_fetch_add(times, 1, __ATOMIC_RELAXED) || all > ERRORS_MOST)
        return false;
    __atomic_fetch_add(&context_count, 1, __ATOMIC_RELAXED);
    lathe_lock(&report_lock);
    SAY();
    return true;
}

static void report_end(void) {
    lathe_flush(out);
    lathe_unlock(&report_lock);
}

#endif
