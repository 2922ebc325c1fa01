/* foreign_generic.c: structures and numbers of Linux that most machines have as the kernel's generic headers say: see foreign.h. */
#include "isa/foreign.h"

#include <sys/stat.h>

/* linux/include/uapi/asm-generic/stat.h */
typedef struct GenericStat {
    u64 device, inode;
    u32 mode, links, user, group;
    u64 special_device, padding;
    i64 size;
    i32 block_size, padding2;
    i64 blocks;
    struct timespec accessed, modified, changed;
    u32 unused[2];
} GenericStat;
_Static_assert(sizeof(GenericStat) == 128, "as in the header of the kernel");

void guest_put_stat(void *to, const struct stat *from) {
    GenericStat own = {.device = from->st_dev,
                       .inode = from->st_ino,
                       .mode = from->st_mode,
                       .links = (u32)from->st_nlink,
                       .user = from->st_uid,
                       .group = from->st_gid,
                       .special_device = from->st_rdev,
                       .size = from->st_size,
                       .block_size = (i32)from->st_blksize,
                       .blocks = from->st_blocks,
                       .accessed = from->st_atim,
                       .modified = from->st_mtim,
                       .changed = from->st_ctim};
    memcpy(to, &own, sizeof(own));
}

/* A long double is binary128. */
long double guest_extended(const void *at) {
    _Float128 v;
    memcpy(&v, at, sizeof(v));
    return (long double)v;
}

void lathe_raise_put_extended(void *to, long double v) {
    _Float128 own = v;
    memcpy(to, &own, sizeof(own));
}

const long guest_call_numbers[] = {
#define CALL(name, x86_64, generic) generic,
#include "isa/foreign_calls.def"
#undef CALL
};
