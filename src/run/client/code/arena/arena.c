/* arena.c: see arena.h. */
#include "run/client/code/arena/arena.h"

#include <linux/memfd.h>

#include "host_stubs.h"
#include "run/client/memory/limits.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"

enum {
    CODE_BYTES_MOST = STUB_REACH,
    DATA_SHARE = 8,         /* of the arena */
    PIECE_BYTES = 16 << 10, /* of other memory: what is copied at once to be changed */
    PIECES = CODE_BYTES_MOST / PIECE_BYTES,
};

typedef struct CodeMemory {
    u32 lock;
    bool shared;     /* with another process: copy before a change */
    u8 *write, *run; /* the two views */
    u8 *spare;       /* a third view, executable as `run`, from which pieces are shown again at `run` */
    u8 *data;        /* behind the executable view */
    u64 used, data_used;
    bool moves; /* the system has no view of the same memory again, so what is shown at `run` is missing in `spare` */
    u64 seen;   /* in front of that, code was written before */
    bool forgets_slowly;
    u64 fixed, data_fixed;
    /* Between these offsets `run` shows other memory than `write`: an image, or what two processes have in common; except for pieces that were copied. */
    u64 other_start, other_end;
    u64 copied[PIECES / 64]; /* bit n: piece n */
} CodeMemory;

static CodeMemory arena;

static u64 data_bytes(void) {
    return page_up((the.code_end - the.code_base) / DATA_SHARE);
}

static u64 code_bytes(void) {
    u64 most = limits_scaled(CODE_BYTES_MOST), left = the.code_end - the.code_base - data_bytes();
    return left < most ? left - left % PIECE_BYTES : most;
}

static u64 round_up(u64 n, u64 align) {
    return (n + align - 1) & ~(align - 1);
}

/* --------------------------------------------------------------------------------------------------------------- views */

/* True if the executable view shows other memory at this offset. */
static bool is_other(u64 off) {
    return off >= arena.other_start && off < arena.other_end &&
           !(arena.copied[off / PIECE_BYTES / 64] >> off / PIECE_BYTES % 64 & 1);
}

/* Finds the next stretch, at or behind *start, that shows the arena's own memory. Returns false if there is none. */
static bool next_stretch(u64 *start, u64 *end) {
    while (is_other(*start))
        *start += PIECE_BYTES;
    *end = *start;
    while (*end < arena.other_end && !is_other(*end))
        *end += PIECE_BYTES;
    if (*end >= arena.other_end)
        *end = code_bytes();
    return *start < code_bytes();
}

/* Maps the same memory at a second place, which is what mremap does with an old size of zero. What is mapped there is replaced in one step, while
 * threads run in it. */
static bool view_again(const u8 *from, u8 *to, u64 size) {
    return !sys_failed(sys_mremap((u64)from, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, (u64)to));
}

static bool show_at_run(u64 off, u64 size) {
    const u8 *from = arena.spare + off;
    u8 *to = arena.run + off;
    return arena.moves ? !sys_failed(sys_mremap((u64)from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (u64)to))
                       : view_again(from, to, size);
}

static bool map_file(int fd, u8 *at, u32 prot) {
    return !sys_failed(sys_mmap((u64)at, code_bytes(), prot, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0));
}

/* Two views of new memory of a file, where the system does not map the same memory again (emulators of Linux). */
static bool map_views_of_file(void) {
    i64 fd = sys_memfd_create("code", MFD_CLOEXEC);
    bool mapped = fd >= 0 && !sys_ftruncate((int)fd, code_bytes()) &&
                  map_file((int)fd, arena.write, PROT_READ | PROT_WRITE) &&
                  map_file((int)fd, arena.spare, PROT_READ | PROT_EXEC);
    if (fd >= 0)
        sys_close((int)fd);
    arena.moves = true;
    return mapped;
}

/* Maps new memory for two of the views. It belongs to no file, because the guest's limit of file sizes would count for that. */
static bool map_write_and_spare(void) {
    i64 write = sys_mmap((u64)arena.write, code_bytes(), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (sys_failed(write))
        return false;
    if (!view_again(arena.write, arena.spare, code_bytes()))
        return map_views_of_file();
    return !sys_mprotect((u64)arena.spare, code_bytes(), PROT_READ | PROT_EXEC);
}

/* Maps new memory for all views, except where the executable one shows other memory. */
static bool map_views(void) {
    if (!map_write_and_spare())
        return false;
    for (u64 start = 0, end; next_stretch(&start, &end); start = end)
        if (!show_at_run(start, end - start))
            return false;
    return true;
}

/* Takes memory of this process's own for new code. Existing code stays where it is, in memory that other processes have, too, because threads run in it. */
static void leave_shared(void) {
    arena.other_start = 0;
    arena.other_end = round_up(arena.used, PIECE_BYTES);
    memset(arena.copied, 0, sizeof(arena.copied));
    if (!map_views())
        die("no memory to change translated code");
    arena.shared = false;
}

static void replace_other(u64 off, u64 size) {
    if (!show_at_run(off, size))
        die("no memory to change translated code");
}

static void copy_piece(u64 off) {
    off -= off % PIECE_BYTES;
    memcpy(arena.write + off, arena.run + off, PIECE_BYTES);
    replace_other(off, PIECE_BYTES);
    stub_written(arena.write + off, arena.run + off, PIECE_BYTES);
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

u8 *arena_room(u64 most, u64 align) {
    if (arena.shared)
        leave_shared();
    u64 at = round_up(arena.used, align);
    if (at + most > code_bytes())
        die("the translated program needs more than %lu MiB of code", code_bytes() >> 20);
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
    if (at + bytes > data_bytes())
        die("the translated program needs more than %lu MiB of data for its code", data_bytes() >> 20);
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

void arena_written(const void *run, u64 bytes) {
    stub_written(arena_writable(run), run, bytes);
    u64 start = page_down((u64)run), end = page_up((u64)run + bytes);
    if (arena.forgets_slowly && (u64)run < arena.seen) {
        sys_mprotect(start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC);
        sys_mprotect(start, end - start, PROT_READ | PROT_EXEC);
    }
    if ((u64)run + bytes > arena.seen)
        arena.seen = (u64)run + bytes;
}

void arena_announce(void) {
    sys_mprotect((u64)arena.run, code_bytes(), PROT_READ);
    sys_mprotect((u64)arena.run, code_bytes(), PROT_READ | PROT_EXEC);
}

/* Emulators of Linux may have translated code that was changed by another view, and go on in that, whatever the host's instructions for that say. They forget it when
 * code becomes writable where it runs, which it is for a moment then. */
static void look_for_emulator(void) {
    u8 *at = arena_code(STUB_BYTES, STUB_BYTES);
    u32 (*number)(void) = (u32(*)(void))at;
    for (u32 i = 1; i <= 2; i++) {
        stub_write_number(arena_writable(at), i);
        stub_written(arena_writable(at), at, STUB_BYTES);
        arena.forgets_slowly = number() != i;
    }
}

bool arena_holds(u64 addr) {
    return addr - (u64)arena.run < code_bytes();
}

/* --------------------------------------------------------------------------------------------------------------- images */

void arena_fix(void) {
    arena.fixed = arena.used = round_up(arena.used, PIECE_BYTES);
    arena.data_fixed = arena.data_used = page_up(arena.data_used);
}

/* Shows the arena's own memory from this offset on where there is still other memory. What has moved to `run` piece by piece is no longer in the spare view. */
static void replace_rest(u64 start) {
    if (!arena.moves)
        replace_other(start, arena.other_end - start);
    for (u64 off = start; arena.moves && off < arena.other_end; off += PIECE_BYTES)
        if (is_other(off))
            replace_other(off, PIECE_BYTES);
}

void arena_reset(void) {
    if (arena.other_end > arena.fixed) {
        replace_rest(arena.fixed);
        arena.other_end = arena.fixed;
    }
    arena.used = arena.fixed;
    arena.data_used = arena.data_fixed;
}

u64 arena_used(void) {
    return arena.used;
}

bool arena_is_nearly_full(void) {
    return arena.used > code_bytes() / 8 * 7 || arena.data_used > data_bytes() / 8 * 7;
}

ArenaParts arena_export(void) {
    return (ArenaParts){arena.run + arena.fixed,
                        arena.data + arena.data_fixed,
                        arena.used - arena.fixed,
                        arena.data_used - arena.data_fixed,
                        0,
                        0};
}

static bool map_code(int fd, const ArenaParts *p) {
    return !sys_failed(sys_mmap((u64)arena.run + arena.fixed, page_up(p->code_size), PROT_READ | PROT_EXEC,
                                MAP_PRIVATE | MAP_FIXED, fd, p->code_off));
}

/* The code is copied if it cannot be mapped: from some file systems nothing can be mapped executable (noexec); and where views move, the arena's own memory would be lost. */
void arena_import(int fd, const ArenaParts *p) {
    u64 data = (u64)arena.data + arena.data_fixed, end = arena.fixed + p->code_size;
    arena.used = round_up(end, PIECE_BYTES);
    arena.data_used = arena.data_fixed + p->data_size;
    if (!arena.moves && map_code(fd, p)) {
        arena.other_start = arena.fixed, arena.other_end = arena.used;
    } else {
        memcpy(arena.write + arena.fixed, p->code, p->code_size);
        stub_written(arena.write + arena.fixed, arena.run + arena.fixed, p->code_size);
    }
    arena.seen = (u64)arena.run + arena.used;
    if (sys_failed(
            sys_mmap(data, page_up(p->data_size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, p->data_off)))
        memcpy(arena.data + arena.data_fixed, p->data, p->data_size);
}

bool arena_init(void) {
    i64 views = own_map(2 * code_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys_failed(views))
        return false;
    arena.run = (u8 *)the.code_base;
    arena.write = (u8 *)views;
    arena.spare = arena.write + code_bytes();
    if (!map_views())
        return false;
    i64 data = sys_mmap(the.code_base + code_bytes(), data_bytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    arena.data = (u8 *)data;
    if (!STUB_COHERENT)
        look_for_emulator();
    return !sys_failed(data);
}
