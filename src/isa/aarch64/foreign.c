/* foreign.c: the aarch64 side of programs that were raised for another machine: see isa/foreign.h. */
#include "isa/foreign.h"

#include <elf.h>
#include <fcntl.h>
#include <fenv.h>

#include "isa/aarch64/hwcap.h"
#include "lathe/types.h"

enum { INTS = 8, FLOATS = 8, MEMORY_RESULT = 8 };

struct GuestCpu {
    LatheAarch64Cpu x;
};

const size_t guest_cpu_bytes = sizeof(GuestCpu);
const bool guest_result_apart = true;

/* ------------------------------------------------------------------------------------------------- native code calls in */

u64 guest_push_arguments(u64 stack, const ForeignRegs *args) {
    (void)args;
    return stack & -(u64)64;
}

void guest_enter(GuestCpu *cpu, const ForeignRegs *args, u64 stack, u8 *thread) {
    LatheAarch64Cpu *x = &cpu->x;
    for (int i = 0; i < INTS; i++)
        x->x[i] = args->ints[i];
    for (int i = 0; i < FLOATS; i++)
        memcpy(x->vec[i], &args->floats[i], sizeof(args->floats[i]));
    x->x[MEMORY_RESULT] = args->result;
    x->sp = stack;
    x->tpidr = (u64)thread;
    x->reserved_address = ~(u64)0;
    x->reserved_value = x->reserved_high = 0;
    x->n = x->z = x->c = x->v = 0;
    x->trap = x->trap_info = 0;
    x->fpcr = x->fpsr = 0;
}

void guest_results(const GuestCpu *cpu, ForeignRegs *results) {
    for (int i = 0; i < 2; i++) {
        results->ints[i] = cpu->x.x[i];
        memcpy(&results->floats[i], cpu->x.vec[i], sizeof(results->floats[i]));
    }
}

/* --------------------------------------------------------------------------------------------------- raised code calls out */

u64 guest_target(const GuestCpu *cpu) {
    return cpu->x.pc;
}

void guest_arguments(const GuestCpu *cpu, ForeignRegs *args) {
    for (int i = 0; i < INTS; i++)
        args->ints[i] = cpu->x.x[i];
    for (int i = 0; i < FLOATS; i++)
        memcpy(&args->floats[i], cpu->x.vec[i], sizeof(args->floats[i]));
    args->result = cpu->x.x[MEMORY_RESULT];
    args->stack = cpu->x.sp;
}

void guest_set_results(GuestCpu *cpu, const ForeignRegs *results) {
    for (int i = 0; i < 2; i++) {
        cpu->x.x[i] = results->ints[i];
        memcpy(cpu->x.vec[i], &results->floats[i], sizeof(results->floats[i]));
    }
}

/* ----------------------------------------------------------------------------------------------------- variable arguments */

/* Procedure Call Standard for the Arm 64-bit Architecture, 6.8: variable arguments are where named ones would be. */
ForeignList guest_list(const ForeignRegs *args, u32 ints, u32 floats) {
    return foreign_list(args, ints, floats, INTS, FLOATS, (const u64 *)args->stack);
}

/* The same, appendix B.4: va_list. What is left in registers is said by negative offsets from the ends of two areas. */
ForeignList guest_list_of(const void *list) {
    struct {
        const u64 *stack;
        const u8 *ints_end, *floats_end;
        i32 ints_off, floats_off;
    } va;
    memcpy(&va, list, sizeof(va));
    return (ForeignList){.ints = (const u64 *)(va.ints_end + va.ints_off),
                         .floats = va.floats_end + va.floats_off,
                         .int_count = va.ints_off < 0 ? (u32)-va.ints_off / 8 : 0,
                         .float_count = va.floats_off < 0 ? (u32)-va.floats_off / 16 : 0,
                         .stack = va.stack};
}

/* ------------------------------------------------------------------------------------------------------------- long double */

const void *guest_next_extended(ForeignList *list) {
    if (list->float_count) {
        const u8 *at = list->floats;
        list->floats += 16;
        list->float_count--;
        return at;
    }
    const u64 *at = (const u64 *)(((u64)list->stack + 15) & -(u64)16);
    list->stack = at + 2;
    return at;
}

/* --------------------------------------------------------------------------------------------------------------- types */

const HostConstant guest_open_rows[GUEST_OPEN_FLAGS] = {
    {040000, O_DIRECTORY}, {0100000, O_NOFOLLOW}, {0200000, O_DIRECT}};
const int guest_large_file = 0400000;

u64 guest_auxiliary(u64 type, u64 value) {
    return type == AT_HWCAP ? A64_HWCAP : type == AT_HWCAP2 ? A64_HWCAP2 : value;
}

/* glibc, sysdeps/aarch64/nptl/bits/pthreadtypes-arch.h */
size_t guest_type_bytes(GuestType type) {
    switch (type) {
    case GUEST_THREAD_ATTRIBUTES:
        return 64;
    case GUEST_MUTEX:
        return 48;
    case GUEST_SMALL_ATTRIBUTES:
        return 8;
    case GUEST_POLL_EVENT:
        return 16;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- floating point */

const HostConstant guest_roundings[GUEST_ROUNDINGS] = {
    {0, FE_TONEAREST}, {0x400000, FE_UPWARD}, {0x800000, FE_DOWNWARD}, {0xc00000, FE_TOWARDZERO}};
const HostConstant guest_exception_flags[GUEST_EXCEPTIONS] = {
    {1, FE_INVALID}, {2, FE_DIVBYZERO}, {4, FE_OVERFLOW}, {8, FE_UNDERFLOW}, {16, FE_INEXACT}};
