/* arena.c: see arena.h. */
#include "run/client/arena.h"

#include <linux/memfd.h>

#include "run/client/client.h"
#include "run/client/space.h"

enum {
    CODE_BYTES = 384 << 20,
    DATA_BYTES = 64 << 20,
    PIECE_BYTES = 16 << 10, /* of another file: what is copied at once to be changed */
    PIECES = CODE_BYTES / PIECE_BYTES,
};

typedef struct CodeMemory {
    u32 lock;
    bool shared;     /* with another process: copy before a change */
    u8 *write, *run; /* the two views */
    u8 *spare;       /* a second executable one, from which pieces of the first are taken */
    u8 *data;        /* behind the executable view */
    u64 used, data_used;
    u64 fixed, data_fixed;
    /* What lies between is another file's, an image or what two processes had together, but for pieces that were copied. */
    u64 other_start, other_end;
    u64 copied[PIECES / 64]; /* bit n: piece n */
} CodeMemory;

static CodeMemory arena;

static u64 round_up(u64 n, u64 align) {
    return (n + align - 1) & ~(align - 1);
}

static i64 new_file(void) {
    i64 fd = sys_memfd_create("lathe-code", MFD_CLOEXEC);
    if (fd < 0 || !sys_ftruncate((int)fd, CODE_BYTES))
        return fd;
    sys_close((int)fd);
    return -1;
}

/* --------------------------------------------------------------------------------------------------------------- views */

/* Is the code at this offset not in the memory file? */
static bool is_other(u64 off) {
    return off >= arena.other_start && off < arena.other_end &&
           !(arena.copied[off / PIECE_BYTES / 64] >> off / PIECE_BYTES % 64 & 1);
}

/* The next stretch from *start on that is the memory file's; false: there is none. */
static bool next_stretch(u64 *start, u64 *end) {
    while (is_other(*start))
        *start += PIECE_BYTES;
    *end = *start;
    while (*end < arena.other_end && !is_other(*end))
        *end += PIECE_BYTES;
    if (*end >= arena.other_end)
        *end = CODE_BYTES;
    return *start < CODE_BYTES;
}

static bool map_run(int fd) {
    for (u64 start = 0, end; next_stretch(&start, &end); start = end)
        if (sys_failed(
                sys_mmap(the.code_base + start, end - start, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd, start)))
            return false;
    arena.run = (u8 *)the.code_base;
    return true;
}

/* At a new place, or in place of the view there is. */
static bool map_view(u8 **view, int prot, int fd) {
    i64 at = sys_mmap((u64)*view, CODE_BYTES, prot, MAP_SHARED | (*view ? MAP_FIXED : 0), fd, 0);
    *view = (u8 *)at;
    return !sys_failed(at);
}

static bool map_views(int fd) {
    return map_view(&arena.write, PROT_READ | PROT_WRITE, fd) && map_view(&arena.spare, PROT_READ | PROT_EXEC, fd) &&
           map_run(fd);
}

/* A new file for what comes; what is there stays where it is, and other threads run in it. */
static void leave_shared(void) {
    i64 fd = new_file();
    arena.other_start = 0;
    arena.other_end = round_up(arena.used, PIECE_BYTES);
    memset(arena.copied, 0, sizeof(arena.copied));
    if (fd < 0 || !map_views((int)fd))
        die("no memory to change translated code");
    sys_close((int)fd);
    arena.shared = false;
}

/* The memory file in place of another one. With an old size of zero mremap makes a second mapping of the same memory, which takes the
 * place of what is there in one step. */
static void replace_other(u64 off, u64 size) {
    if (sys_failed(sys_mremap((u64)arena.spare + off, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, (u64)arena.run + off)))
        die("no memory to change translated code");
}

static void copy_piece(u64 off) {
    off -= off % PIECE_BYTES;
    memcpy(arena.write + off, arena.run + off, PIECE_BYTES);
    replace_other(off, PIECE_BYTES);
    arena.copied[off / PIECE_BYTES / 64] |= (u64)1 << off / PIECE_BYTES % 64;
}

/* ---------------------------------------------------------------------------------------------------------------- using */

void arena_lock(void) {
    lock(&arena.lock);
}

void arena_unlock(void) {
    unlock(&arena.lock);
}

void arena_after_fork(void) {
    arena.shared = true;
}

/* What is new belongs to this process alone. */
u8 *arena_room(u64 most, u64 align) {
    if (arena.shared)
        leave_shared();
    u64 at = round_up(arena.used, align);
    if (at + most > CODE_BYTES)
        die("the translated program needs more than %lu MiB of code", (u64)CODE_BYTES >> 20);
    return arena.run + at;
}

void arena_keep(const u8 *end) {
    arena.used = (u64)(end - arena.run);
}

u8 *arena_code(u64 bytes, u64 align) {
    u8 *at = arena_room(bytes, align);
    arena_keep(at + bytes);
    return at;
}

u8 *arena_data(u64 bytes, u64 align) {
    u64 at = round_up(arena.data_used, align);
    if (at + bytes > DATA_BYTES)
        die("the translated program needs more than %lu MiB of data for its code", (u64)DATA_BYTES >> 20);
    arena.data_used = at + bytes;
    return arena.data + at;
}

u8 *arena_writable(const void *run) {
    u64 off = (u64)((const u8 *)run - arena.run);
    if (arena.shared)
        leave_shared();
    if (is_other(off))
        copy_piece(off);
    return arena.write + off;
}

bool arena_holds(u64 addr) {
    return addr - (u64)arena.run < CODE_BYTES;
}

/* --------------------------------------------------------------------------------------------------------------- images */

void arena_fix(void) {
    arena.fixed = arena.used = round_up(arena.used, PIECE_BYTES);
    arena.data_fixed = arena.data_used = page_up(arena.data_used);
}

void arena_reset(void) {
    if (arena.other_end > arena.fixed) {
        replace_other(arena.fixed, arena.other_end - arena.fixed);
        arena.other_end = arena.fixed;
    }
    arena.used = arena.fixed;
    arena.data_used = arena.data_fixed;
}

u64 arena_used(void) {
    return arena.used;
}

bool arena_is_nearly_full(void) {
    return arena.used > CODE_BYTES / 8 * 7 || arena.data_used > DATA_BYTES / 8 * 7;
}

ArenaParts arena_export(void) {
    return (ArenaParts){arena.run + arena.fixed,
                        arena.data + arena.data_fixed,
                        arena.used - arena.fixed,
                        arena.data_used - arena.data_fixed,
                        0,
                        0};
}

/* A file may be on a file system of which nothing can be executed. */
void arena_import(int fd, const ArenaParts *p) {
    u64 code = (u64)arena.run + arena.fixed, data = (u64)arena.data + arena.data_fixed,
        end = arena.fixed + p->code_size;
    arena.used = round_up(end, PIECE_BYTES);
    arena.data_used = arena.data_fixed + p->data_size;
    if (!sys_failed(
            sys_mmap(code, page_up(p->code_size), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, p->code_off)))
        arena.other_start = arena.fixed, arena.other_end = arena.used;
    else
        memcpy(arena.write + arena.fixed, p->code, p->code_size);
    if (sys_failed(
            sys_mmap(data, page_up(p->data_size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, p->data_off)))
        memcpy(arena.data + arena.data_fixed, p->data, p->data_size);
}

bool arena_init(void) {
    i64 fd = new_file();
    if (fd < 0 || !map_views((int)fd))
        return false;
    sys_close((int)fd);
    space_own((u64)arena.write, CODE_BYTES);
    space_own((u64)arena.spare, CODE_BYTES);
    i64 data = sys_mmap(the.code_base + CODE_BYTES, DATA_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    arena.data = (u8 *)data;
    return !sys_failed(data);
}
