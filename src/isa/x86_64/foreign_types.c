/* foreign_types.c: types and constants of Linux that are others on x86-64 than on most machines: see isa/foreign.h. */
#include <fcntl.h>
#include <fenv.h>
#include <sys/stat.h>

#include "isa/foreign.h"

/* linux/arch/x86/include/uapi/asm/stat.h */
typedef struct X86Stat {
    u64 device, inode, links;
    u32 mode, user, group, padding;
    u64 special_device;
    i64 size, block_size, blocks;
    struct timespec accessed, modified, changed;
    i64 unused[3];
} X86Stat;
_Static_assert(sizeof(X86Stat) == 144, "as in the manual of the kernel");

void guest_put_stat(void *to, const struct stat *from) {
    X86Stat own = {.device = from->st_dev,
                   .inode = from->st_ino,
                   .links = from->st_nlink,
                   .mode = from->st_mode,
                   .user = from->st_uid,
                   .group = from->st_gid,
                   .special_device = from->st_rdev,
                   .size = from->st_size,
                   .block_size = from->st_blksize,
                   .blocks = from->st_blocks,
                   .accessed = from->st_atim,
                   .modified = from->st_mtim,
                   .changed = from->st_ctim};
    memcpy(to, &own, sizeof(own));
}

const HostConstant guest_open_rows[GUEST_OPEN_FLAGS] = {
    {0200000, O_DIRECTORY}, {0400000, O_NOFOLLOW}, {040000, O_DIRECT}};
const int guest_large_file = 0100000;

const long guest_call_numbers[] = {
#define CALL(name, x86_64, generic) x86_64,
#include "isa/foreign_calls.def"
#undef CALL
};

/* x86-64 programs ask the instruction cpuid what the processor has, and not the auxiliary vector. */
u64 guest_auxiliary(u64 type, u64 value) {
    (void)type;
    return value;
}

/* glibc, sysdeps/x86/nptl/bits/pthreadtypes-arch.h */
size_t guest_type_bytes(GuestType type) {
    switch (type) {
    case GUEST_THREAD_ATTRIBUTES:
        return 56;
    case GUEST_MUTEX:
        return 40;
    case GUEST_SMALL_ATTRIBUTES:
        return 4;
    case GUEST_POLL_EVENT:
        return 12;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- floating point */

const HostConstant guest_roundings[GUEST_ROUNDINGS] = {
    {0, FE_TONEAREST}, {0x400, FE_DOWNWARD}, {0x800, FE_UPWARD}, {0xc00, FE_TOWARDZERO}};
const HostConstant guest_exception_flags[GUEST_EXCEPTIONS] = {
    {1, FE_INVALID}, {4, FE_DIVBYZERO}, {8, FE_OVERFLOW}, {0x10, FE_UNDERFLOW}, {0x20, FE_INEXACT}};
