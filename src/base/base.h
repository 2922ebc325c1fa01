/* base.h: integer names, the arena and growable arrays. The only place of the project that allocates. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))

/* A fault of ours, never of the input: says what was expected and ends the process. Present in all builds. */
#define CHECK(cond, sentence) ((cond) ? (void)0 : check_failed(__FILE__, __LINE__, #cond, sentence))
_Noreturn void check_failed(const char *file, int line, const char *cond, const char *sentence);

/* Memory for one unit of work, zeroed, freed as a whole. A zeroed Arena is ready for use. */
typedef struct ArenaChunk ArenaChunk;
typedef struct Arena {
    ArenaChunk *chunks;
    u8 *next, *end;
} Arena;

void *arena_alloc(Arena *a, size_t size);
char *arena_printf(Arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(Arena *a);
#define ARENA_NEW(a, T) ((T *)arena_alloc(a, sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_alloc(a, sizeof(T) * (n)))

/* A growable array: VEC(int) v = {0}; VEC_PUSH(&v, 3); v.at[0]; v.len; VEC_FREE(&v). */
#define VEC(T)                                                                                                         \
    struct {                                                                                                           \
        T *at;                                                                                                         \
        size_t len, cap;                                                                                               \
    }
#define VEC_PUSH(v, x) (VEC_RESERVE(v, 1), (v)->at[(v)->len++] = (x))
#define VEC_RESERVE(v, n) ((v)->at = vec_reserve((v)->at, &(v)->cap, (v)->len + (n), sizeof(*(v)->at)))
#define VEC_FREE(v) (mem_free((v)->at), (v)->at = NULL, (v)->len = (v)->cap = 0)
void *vec_reserve(void *at, size_t *cap, size_t want, size_t elem_size);

/* malloc that never fails (out of memory ends the process with a sentence); zeroed. */
void *mem_new(size_t size);
void mem_free(void *p);

/* A map from u64 to u32, open addressing; keys may be any value. A zeroed Map64 is empty. */
typedef struct Map64 {
    struct {
        u64 key;
        u32 value;
        bool used;
    } * slot;
    size_t len, cap;
} Map64;

void map64_set(Map64 *m, u64 key, u32 value);
bool map64_get(const Map64 *m, u64 key, u32 *value);
void map64_free(Map64 *m);

#endif
