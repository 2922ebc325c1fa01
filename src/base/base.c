/* base.c: see base.h. */
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Most units of work are small, and their memory is cleared first. From 64 KiB on, glibc's free tidies up the whole heap. */
enum { FIRST_CHUNK_BYTES = 8 * 1024, CHUNK_BYTES = 56 * 1024 };

struct ArenaChunk {
    ArenaChunk *next;
    _Alignas(16) u8 data[];
};

void check_failed(const char *file, int line, const char *cond, const char *sentence) {
    fprintf(stderr, "lathe: internal error at %s:%d: %s (%s)\n", file, line, sentence, cond);
    abort();
}

void *mem_new(size_t size) {
    void *p = calloc(1, size ? size : 1);
    CHECK(p, "out of memory");
    return p;
}

void mem_free(void *p) {
    free(p);
}

void *arena_alloc(Arena *a, size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (size > (size_t)(a->end - a->next)) {
        size_t usual = a->chunks ? CHUNK_BYTES : FIRST_CHUNK_BYTES, bytes = size > usual ? size : usual;
        ArenaChunk *c = mem_new(sizeof(ArenaChunk) + bytes);
        c->next = a->chunks;
        a->chunks = c;
        a->next = c->data;
        a->end = c->data + bytes;
    }
    void *p = a->next;
    a->next += size;
    return p;
}

char *arena_printf(Arena *a, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(a, (size_t)len + 1);
    va_start(args, format);
    vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

void arena_free(Arena *a) {
    for (ArenaChunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *a = (Arena){0};
}

void *vec_reserve(void *at, size_t *cap, size_t want, size_t elem_size) {
    if (want <= *cap)
        return at;
    size_t grown = *cap ? *cap * 2 : 16;
    *cap = grown > want ? grown : want;
    at = realloc(at, *cap * elem_size);
    CHECK(at, "out of memory");
    return at;
}

static size_t slot_of(const Map64 *m, u64 key) {
    size_t i = (key * 0x9e3779b97f4a7c15u) >> 20 & (m->cap - 1);
    while (m->slot[i].used && m->slot[i].key != key)
        i = (i + 1) & (m->cap - 1);
    return i;
}

static void grow(Map64 *m) {
    Map64 bigger = {.cap = m->cap ? m->cap * 2 : 64};
    bigger.slot = mem_new(bigger.cap * sizeof(*bigger.slot));
    for (size_t i = 0; i < m->cap; i++)
        if (m->slot[i].used)
            bigger.slot[slot_of(&bigger, m->slot[i].key)] = m->slot[i];
    bigger.len = m->len;
    free(m->slot);
    *m = bigger;
}

void map64_set(Map64 *m, u64 key, u32 value) {
    if (m->len * 2 >= m->cap)
        grow(m);
    size_t i = slot_of(m, key);
    m->len += !m->slot[i].used;
    m->slot[i].key = key;
    m->slot[i].value = value;
    m->slot[i].used = true;
}

bool map64_get(const Map64 *m, u64 key, u32 *value) {
    if (!m->cap)
        return false;
    size_t i = slot_of(m, key);
    if (m->slot[i].used)
        *value = m->slot[i].value;
    return m->slot[i].used;
}

void map64_free(Map64 *m) {
    free(m->slot);
    *m = (Map64){0};
}
