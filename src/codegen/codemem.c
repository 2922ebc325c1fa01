/* codemem.c: see codemem.h. */
#include "codegen/codemem.h"

#include <sys/mman.h>

/* Address space only; pages are committed when touched. Where address space is limited, less is tried. */
#define LARGEST ((u64)1 << 29)
#define SMALLEST ((u64)1 << 22)
#define NEAR ((u64)1 << 23)
#define REACH ((u64)3 << 29) /* of 2 GiB, so that what is around the address is in reach, too */

#define CODE_ALIGN 64 /* functions start with a cache line: short ones are fetched at once */
#define DATA_ALIGN 16

static void unmap(void *at, u64 size) {
    if (at != MAP_FAILED)
        munmap(at, size);
}

static bool reaches(const void *range, u64 near) {
    u64 at = (u64)range;
    return range != MAP_FAILED && (at > near ? at - near : near - at) < REACH;
}

/* Address space, close to `near` if that is not 0. */
static void *reserve(u64 size, u64 near) {
    enum { STEPS = 24, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
    void *range = mmap(NULL, size, PROT_READ | PROT_WRITE, FLAGS, -1, 0);
    if (!near || reaches(range, near))
        return range;
    unmap(range, size);
    u64 step = REACH / (STEPS + 1) & ~(size - 1), middle = near & ~(size - 1);
    for (u64 i = 1; i <= 2 * STEPS; i++) { /* below and above in turn */
        u64 at = i & 1 ? middle - (i + 1) / 2 * step : middle + i / 2 * step;
        range = mmap((void *)at, size, PROT_READ | PROT_WRITE, FLAGS | MAP_FIXED_NOREPLACE, -1, 0);
        if (reaches(range, near))
            return range;
        unmap(range, size);
    }
    return MAP_FAILED;
}

/* The same memory once more, executable, in place of the first half of `range`: this is what mremap does with an old size of zero. */
static void *map_again(void *write, void *range, u64 size) {
    void *run = mremap(write, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, range);
    return run != MAP_FAILED && !mprotect(run, size, PROT_READ | PROT_EXEC) ? run : MAP_FAILED;
}

/* The executable view and the data are one range of addresses, so that they stay in reach of each other. The memory is of no file, for
 * which the process may have a limit. */
static bool try_size(CodeMem *m, u64 size, u64 near) {
    void *write = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    u8 *range = reserve(2 * size, near);
    void *run = MAP_FAILED;
    if (write != MAP_FAILED && range != MAP_FAILED)
        run = map_again(write, range, size);
    if (run == MAP_FAILED) {
        unmap(write, size);
        unmap(range, 2 * size);
        return false;
    }
    *m = (CodeMem){.code_write = write, .code_run = run, .data = range + size, .size = size};
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- parts */

static u64 align_up(u64 at, u64 align) {
    return (at + align - 1) & ~(align - 1);
}

static void remove_hole(CodePart *p, size_t i) {
    memmove(&p->holes.at[i], &p->holes.at[i + 1], (p->holes.len - i - 1) * sizeof(CodeHole));
    p->holes.len--;
}

static void insert_hole(CodePart *p, size_t i, CodeHole hole) {
    VEC_PUSH(&p->holes, hole);
    memmove(&p->holes.at[i + 1], &p->holes.at[i], (p->holes.len - 1 - i) * sizeof(CodeHole));
    p->holes.at[i] = hole;
}

/* Gives back what lies between `start` and `end`. */
static void give(CodePart *p, u64 start, u64 end) {
    if (start == end)
        return;
    size_t i = 0;
    while (i < p->holes.len && p->holes.at[i].start < start)
        i++;
    if (i < p->holes.len && p->holes.at[i].start == end) {
        end = p->holes.at[i].end;
        remove_hole(p, i);
    }
    if (i > 0 && p->holes.at[i - 1].end == start) {
        start = p->holes.at[--i].start;
        remove_hole(p, i);
    }
    if (end == p->used)
        p->used = start;
    else
        insert_hole(p, i, (CodeHole){start, end});
}

/* The first hole that is large enough, else what was never used. */
static bool take(CodePart *p, u64 limit, u64 bytes, u64 align, u64 *at) {
    for (size_t i = 0; i < p->holes.len; i++) {
        CodeHole hole = p->holes.at[i];
        *at = align_up(hole.start, align);
        if (*at > hole.end || bytes > hole.end - *at)
            continue;
        remove_hole(p, i);
        give(p, hole.start, *at);
        give(p, *at + bytes, hole.end);
        return true;
    }
    *at = align_up(p->used, align);
    if (*at > limit || bytes > limit - *at)
        return false;
    u64 gap = p->used;
    p->used = *at + bytes;
    give(p, gap, *at);
    return true;
}

/* --------------------------------------------------------------------------------------------------------------- public */

bool codemem_init(CodeMem *m) {
    for (u64 size = LARGEST; size >= SMALLEST; size /= 2)
        if (try_size(m, size, 0))
            return true;
    return false;
}

bool codemem_init_near(CodeMem *m, u64 address) {
    return try_size(m, NEAR, address);
}

bool codemem_reaches(const CodeMem *m, u64 address) {
    return reaches(m->code_run, address);
}

void codemem_free(CodeMem *m) {
    munmap(m->code_write, m->size);
    munmap(m->code_run, 2 * m->size);
    VEC_FREE(&m->code_part.holes);
    VEC_FREE(&m->data_part.holes);
}

/* libgcc passes over unwind tables of functions whose address has 32 low bits that are zero: where addresses are written in 32 bits, that is how the linker
 * marks functions that it has removed. No exception would pass such a function, so none is put there. */
static bool take_code(CodeMem *m, u64 bytes, u64 align, u64 *at) {
    if (!take(&m->code_part, m->size, bytes, align, at))
        return false;
    u64 first = *at;
    if ((u32)((u64)m->code_run + first))
        return true;
    bool other = take(&m->code_part, m->size, bytes, align, at);
    give(&m->code_part, first, first + bytes);
    return other;
}

bool codemem_alloc(CodeMem *m, u64 code_bytes, u64 data_bytes, u64 align, CodeSpan *span) {
    u64 code, data;
    if (!take_code(m, code_bytes, align > CODE_ALIGN ? align : CODE_ALIGN, &code))
        return false;
    if (!take(&m->data_part, m->size, data_bytes, align > DATA_ALIGN ? align : DATA_ALIGN, &data)) {
        give(&m->code_part, code, code + code_bytes);
        return false;
    }
    *span = (CodeSpan){m->code_write + code, m->code_run + code, m->data + data, code_bytes, data_bytes};
    return true;
}

void codemem_release(CodeMem *m, const CodeSpan *span) {
    u64 code = (u64)(span->code_run - m->code_run), data = (u64)(span->data - m->data);
    give(&m->code_part, code, code + span->code_bytes);
    give(&m->data_part, data, data + span->data_bytes);
}
