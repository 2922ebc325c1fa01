/* foreign.h: C functions in programs that were raised for another machine than they were made for (docs/raise-targets.md).
 *
 * They are compiled for that machine, the host. Between its calling convention and that of the guest stands ForeignRegs: what C has in
 * registers, in the order in which both machines fill them. What a guest's convention looks like is in src/isa (guest_…), what a host's looks like
 * in src/host (host_…), and everything else in src/raise/runtime. */
#ifndef ISA_FOREIGN_H
#define ISA_FOREIGN_H

#include "base/base.h"

enum { FOREIGN_INTS = 8, FOREIGN_FLOATS = 8 };

/* Arguments, or results in the first two of each. The host's assembly and raised code know the offsets. */
typedef struct ForeignRegs {
    u64 ints[FOREIGN_INTS];
    struct {
        u64 low, high;
    } floats[FOREIGN_FLOATS];
    u64 stack;  /* the guest's stack pointer where its callee begins */
    u64 result; /* where a result in memory is to be, for machines that have a register of its own for it */
} ForeignRegs;

/* Where the next variable arguments are, of a guest's call or va_list. */
typedef struct ForeignList {
    const u64 *ints;       /* NULL: none are left in registers */
    const u8 *floats;      /* likewise, 16 bytes each */
    u32 int_count;         /* left in registers */
    u32 float_count;       /* likewise */
    bool floats_with_ints; /* floating-point numbers are passed as integers are */
    const u64 *stack;
} ForeignList;

typedef struct GuestCpu GuestCpu; /* the guest state */
extern const size_t guest_cpu_bytes;

/* Native code calls a function of the program. `thread` is the program's thread-local storage. */
void guest_enter(GuestCpu *cpu, const ForeignRegs *args, u64 stack, u8 *thread);
void guest_results(const GuestCpu *cpu, ForeignRegs *results);
/* How far below the stack that it was given a function finds its stack pointer, and what is there. */
u64 guest_push_arguments(u64 stack, const ForeignRegs *args);

/* Has the guest, or the host, such a register? Else that address is the first integer. */
extern const bool guest_result_apart, host_result_apart;

/* Raised code calls native code that is known only at run time. */
u64 guest_target(const GuestCpu *cpu);
void guest_arguments(const GuestCpu *cpu, ForeignRegs *args);
void guest_set_results(GuestCpu *cpu, const ForeignRegs *results);

/* Variable arguments behind so many named ones, and those of a va_list. */
ForeignList guest_list(const ForeignRegs *args, u32 ints, u32 floats);
/* For that: of a machine with so many registers for arguments. What finds none is on the stack, whose first argument is at `stack`. */
static inline ForeignList foreign_list(const ForeignRegs *args, u32 ints, u32 floats, u32 int_regs, u32 float_regs,
                                       const u64 *stack) {
    u32 on_stack = (ints > int_regs ? ints - int_regs : 0) + (floats > float_regs ? floats - float_regs : 0);
    ints = ints < int_regs ? ints : int_regs;
    floats = floats < float_regs ? floats : float_regs;
    return (ForeignList){.ints = args->ints + ints,
                         .floats = (const u8 *)(args->floats + floats),
                         .int_count = int_regs - ints,
                         .float_count = float_regs - floats,
                         .stack = stack + on_stack};
}
ForeignList guest_list_of(const void *list);

/* A long double in the guest's memory as the host's, and the other way round, for guests that have it in registers as a result. */
long double guest_extended(const void *at);
void lathe_raise_put_extended(void *to, long double v);
/* The next variable argument, a long double, and where its bytes are. */
const void *guest_next_extended(ForeignList *list);

/* Types and constants that differ: the host's as the guest's, and the other way round. */
struct stat;
void guest_put_stat(void *to, const struct stat *from);
int guest_open_flags(int flags);    /* the host's for the guest's */
int guest_of_open_flags(int flags); /* the guest's for the host's */
/* The guest's numbers of the system calls of foreign_calls.def. */
extern const long guest_call_numbers[];
/* The host's number of a system call whose arguments mean the same there; -1: nobody knows one. */
long guest_system_call(long number);
/* What the guest's auxiliary vector has where the host's has `value`. */
u64 guest_auxiliary(u64 type, u64 value);
/* How many bytes the guest's type has, for types that only the library looks into. */
typedef enum GuestType {
    GUEST_THREAD_ATTRIBUTES,
    GUEST_MUTEX,
    GUEST_SMALL_ATTRIBUTES,
    GUEST_POLL_EVENT, /* struct epoll_event, whose last 8 bytes are the program's */
} GuestType;
size_t guest_type_bytes(GuestType type);

/* Constants with other values on the host. */
typedef struct HostConstant {
    int own, host;
} HostConstant;

/* Of the guest's <fcntl.h>: O_DIRECTORY, O_NOFOLLOW and O_DIRECT; and O_LARGEFILE. */
enum { GUEST_OPEN_FLAGS = 3 };
extern const HostConstant guest_open_rows[GUEST_OPEN_FLAGS];
extern const int guest_large_file;

/* Of the guest's <fenv.h>. */
enum { GUEST_ROUNDINGS = 4, GUEST_EXCEPTIONS = 5 };
extern const HostConstant guest_roundings[GUEST_ROUNDINGS], guest_exception_flags[GUEST_EXCEPTIONS];

/* The host's function at `target` is called with `args`; the results replace them. */
void host_call(u64 target, ForeignRegs *args);
/* Does that function return its result in memory? `object` is the guest's first argument. It is asked only if one of guest and host has a register of its own for the address of that. */
bool host_returns_in_memory(u64 target, u64 object);
/* What C code passes as a va_list whose arguments are at `slots`, 8 bytes each. `room` is for what it consists of. */
enum { HOST_LIST_BYTES = 32 };
void *host_list(void *room, u64 *slots);

#endif
