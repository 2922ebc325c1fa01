/* arena.c: see arena.h. */
#include "run/client/arena.h"

#include <linux/memfd.h>

#include "run/client/client.h"

enum {
    CODE_BYTES = 384 << 20,
    DATA_BYTES = 64 << 20,
};

typedef struct CodeMemory {
    u32 lock;
    bool shared;     /* with another process: copy before a change */
    u8 *write, *run; /* the two views */
    u8 *data;        /* behind the executable view */
    u64 used, data_used;
    u64 fixed, data_fixed;
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

/* At new places, or in place of the views there are. */
static bool map_views(int fd) {
    u32 fixed = arena.write ? MAP_FIXED : 0;
    i64 write = sys_mmap((u64)arena.write, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, fd, 0);
    i64 run = sys_mmap(the.code_base, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd, 0);
    arena.write = (u8 *)write;
    arena.run = (u8 *)run;
    return !sys_failed(write) && !sys_failed(run);
}

/* The new file is complete before it takes the old one's place: other threads run in it. */
static void take_copy(void) {
    i64 fd = new_file();
    i64 copy = fd < 0 ? fd : sys_mmap(0, arena.used, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (sys_failed(copy))
        die("no memory for a copy of the translated code");
    memcpy((void *)copy, arena.write, arena.used);
    sys_munmap((u64)copy, arena.used);
    if (!map_views((int)fd))
        die("the copy of the translated code cannot be mapped");
    sys_close((int)fd);
    arena.shared = false;
}

void arena_lock(void) {
    lock(&arena.lock);
    if (arena.shared)
        take_copy();
}

void arena_unlock(void) {
    unlock(&arena.lock);
}

void arena_after_fork(void) {
    arena.shared = true;
}

u8 *arena_room(u64 most, u64 align) {
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
    return arena.write + ((const u8 *)run - arena.run);
}

bool arena_holds(u64 addr) {
    return addr - (u64)arena.run < CODE_BYTES;
}

void arena_fix(void) {
    arena.fixed = arena.used;
    arena.data_fixed = arena.data_used;
}

void arena_reset(void) {
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
    return (ArenaParts){arena.write + arena.fixed, arena.data + arena.data_fixed, arena.used - arena.fixed,
                        arena.data_used - arena.data_fixed};
}

void arena_import(const ArenaParts *p) {
    memcpy(arena.write + arena.fixed, p->code, p->code_size);
    memcpy(arena.data + arena.data_fixed, p->data, p->data_size);
    arena.used = arena.fixed + p->code_size;
    arena.data_used = arena.data_fixed + p->data_size;
}

bool arena_init(void) {
    i64 fd = new_file();
    if (fd < 0 || !map_views((int)fd))
        return false;
    sys_close((int)fd);
    i64 data = sys_mmap(the.code_base + CODE_BYTES, DATA_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    arena.data = (u8 *)data;
    return !sys_failed(data);
}
