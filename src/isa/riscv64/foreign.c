/* foreign.c: the riscv64 side of programs that were raised for another machine: see isa/foreign.h. */
#include "isa/foreign.h"

#include <fenv.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lathe/types.h"

enum { SP = 2, TP = 4, A0 = 10, FA0 = 10, INTS = 8, FLOATS = 8 };

struct GuestCpu {
    LatheRiscv64Cpu x;
};

const size_t guest_cpu_bytes = sizeof(GuestCpu);

/* ------------------------------------------------------------------------------------------------- native code calls in */

u64 guest_push_arguments(u64 stack, const ForeignRegs *args) {
    (void)args;
    return stack & -(u64)64;
}

void guest_enter(GuestCpu *cpu, const ForeignRegs *args, u64 stack, u8 *thread) {
    LatheRiscv64Cpu *x = &cpu->x;
    for (int i = 0; i < INTS; i++)
        x->x[A0 + i] = args->ints[i];
    for (int i = 0; i < FLOATS; i++)
        x->f[FA0 + i] = args->floats[i].low;
    x->x[SP] = stack;
    x->x[TP] = (u64)thread;
    x->reserved_address = ~(u64)0;
    x->reserved_value = 0;
    x->trap = x->trap_info = 0;
    x->frm = x->fflags = 0;
}

void guest_results(const GuestCpu *cpu, ForeignRegs *results) {
    for (int i = 0; i < 2; i++) {
        results->ints[i] = cpu->x.x[A0 + i];
        results->floats[i].low = cpu->x.f[FA0 + i];
        results->floats[i].high = 0;
    }
}

/* --------------------------------------------------------------------------------------------------- raised code calls out */

u64 guest_target(const GuestCpu *cpu) {
    return cpu->x.pc;
}

void guest_arguments(const GuestCpu *cpu, ForeignRegs *args) {
    for (int i = 0; i < INTS; i++)
        args->ints[i] = cpu->x.x[A0 + i];
    for (int i = 0; i < FLOATS; i++) {
        args->floats[i].low = cpu->x.f[FA0 + i];
        args->floats[i].high = 0;
    }
    args->stack = cpu->x.x[SP];
}

/* An int is sign-extended here, and hosts may have anything above it; addresses and sizes are not between 2 and 4 GiB. */
static u64 extended(u64 v) {
    return v >> 32 ? v : (u64)(i64)(i32)v;
}

void guest_set_results(GuestCpu *cpu, const ForeignRegs *results) {
    for (int i = 0; i < 2; i++) {
        cpu->x.x[A0 + i] = extended(results->ints[i]);
        cpu->x.f[FA0 + i] = results->floats[i].low;
    }
}

/* ----------------------------------------------------------------------------------------------------- variable arguments */

/* RISC-V ABIs Specification, "Integer calling convention": variable arguments are integers, and a va_list points to them. */
ForeignList guest_list(const ForeignRegs *args, u32 ints, u32 floats) {
    (void)floats;
    u32 on_stack = ints > INTS ? ints - INTS : 0;
    ints = ints < INTS ? ints : INTS;
    return (ForeignList){.ints = args->ints + ints,
                         .int_count = INTS - ints,
                         .floats_with_ints = true,
                         .stack = (const u64 *)args->stack + on_stack};
}

ForeignList guest_list_of(const void *list) {
    return (ForeignList){.floats_with_ints = true, .stack = list};
}

_Noreturn void lathe_raise_stop(const char *text, u64 size, u64 pc);

static const char no_extended[] = "a long double among variable arguments";

const void *guest_next_extended(ForeignList *list) {
    (void)list;
    lathe_raise_stop(no_extended, sizeof(no_extended) - 1, 0);
}

long double guest_extended(const void *at) {
    (void)at;
    lathe_raise_stop(no_extended, sizeof(no_extended) - 1, 0);
}

/* --------------------------------------------------------------------------------------------------------------- types */

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

/* The flags of hosts that this is for are the same. */
int guest_open_flags(int flags) {
    return flags;
}

int guest_of_open_flags(int flags) {
    return flags;
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

/* glibc, sysdeps/riscv/nptl/bits/pthreadtypes-arch.h */
size_t guest_type_bytes(GuestType type) {
    switch (type) {
    case GUEST_THREAD_ATTRIBUTES:
        return 56;
    case GUEST_MUTEX:
        return 40;
    case GUEST_SMALL_ATTRIBUTES:
        return 4;
    case GUEST_POLL_EVENT:
        return 16;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- floating point */

static const HostConstant roundings[] = {{0, FE_TONEAREST}, {1, FE_TOWARDZERO}, {2, FE_DOWNWARD}, {3, FE_UPWARD}};
static const HostConstant exceptions[] = {
    {1, FE_INEXACT}, {2, FE_UNDERFLOW}, {4, FE_OVERFLOW}, {8, FE_DIVBYZERO}, {16, FE_INVALID}};

int guest_rounding(int mode) {
    return host_constant(roundings, ARRAY_LEN(roundings), mode);
}

int guest_of_rounding(int mode) {
    return guest_constant(roundings, ARRAY_LEN(roundings), mode);
}

int guest_exceptions(int flags) {
    return host_flags(exceptions, ARRAY_LEN(exceptions), flags);
}

int guest_of_exceptions(int flags) {
    return guest_flags(exceptions, ARRAY_LEN(exceptions), flags);
}
