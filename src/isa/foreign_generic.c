/* foreign_generic.c: structures and numbers of Linux that most machines have as the kernel's generic headers say: see foreign.h. */
#include "isa/foreign.h"

#include <sys/stat.h>
#include <sys/syscall.h>

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

/* System calls that take no structures but those that are the same everywhere, and at most five arguments. The numbers are those of asm-generic/unistd.h. */
static const struct {
    long own, host;
} call_rows[] = {{172, SYS_getpid},
                 {178, SYS_gettid},
                 {5, SYS_setxattr},
                 {6, SYS_lsetxattr},
                 {7, SYS_fsetxattr},
                 {8, SYS_getxattr},
                 {9, SYS_lgetxattr},
                 {10, SYS_fgetxattr},
                 {11, SYS_listxattr},
                 {12, SYS_llistxattr},
                 {13, SYS_flistxattr},
                 {14, SYS_removexattr},
                 {15, SYS_lremovexattr},
                 {16, SYS_fremovexattr},
                 {122, SYS_sched_setaffinity},
                 {123, SYS_sched_getaffinity},
                 {168, SYS_getcpu},
                 {276, SYS_renameat2},
                 {278, SYS_getrandom},
                 {279, SYS_memfd_create},
                 {291, SYS_statx},
                 {424, SYS_pidfd_send_signal},
                 {434, SYS_pidfd_open},
                 {436, SYS_close_range},
                 {439, SYS_faccessat2}};

long guest_system_call(long number) {
    for (size_t i = 0; i < ARRAY_LEN(call_rows); i++)
        if (call_rows[i].own == number)
            return call_rows[i].host;
    return -1;
}
