/* foreign.c: the riscv64 side of programs that were raised for another machine: see isa/foreign.h. */
#include "isa/foreign.h"

#include <elf.h>
#include <fcntl.h>
#include <fenv.h>

#include "lathe/types.h"

enum { SP = 2, TP = 4, A0 = 10, FA0 = 10, INTS = 8, FLOATS = 8 };

struct GuestCpu {
    LatheRiscv64Cpu x;
};

const size_t guest_cpu_bytes = sizeof(GuestCpu);
const bool guest_result_apart = false;

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
    ForeignList list = foreign_list(args, ints, 0, INTS, 0, (const u64 *)args->stack);
    list.floats_with_ints = true;
    return list;
}

ForeignList guest_list_of(const void *list) {
    return (ForeignList){.floats_with_ints = true, .stack = list};
}

/* Among variable arguments it begins at an even register, or at a multiple of 16. */
const void *guest_next_extended(ForeignList *list) {
    const void *at;
    u32 odd = list->int_count % 2;
    if (list->int_count > odd) {
        at = list->ints + odd;
        list->ints += odd + 2;
        list->int_count -= odd + 2;
    } else {
        list->int_count = 0;
        at = (const void *)(((u64)list->stack + 15) & -(u64)16);
        list->stack = (const u64 *)at + 2;
    }
    return at;
}

/* --------------------------------------------------------------------------------------------------------------- types */

const HostConstant guest_open_rows[GUEST_OPEN_FLAGS] = {
    {0200000, O_DIRECTORY}, {0400000, O_NOFOLLOW}, {040000, O_DIRECT}};
const int guest_large_file = 0100000;

/* The letters of the base and of its extensions. */
u64 guest_auxiliary(u64 type, u64 value) {
    u64 letters = 0;
    for (const char *c = "IMAFDC"; *c; c++)
        letters |= (u64)1 << (*c - 'A');
    return type == AT_HWCAP ? letters : type == AT_HWCAP2 ? 0 : value;
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

const HostConstant guest_roundings[GUEST_ROUNDINGS] = {
    {0, FE_TONEAREST}, {1, FE_TOWARDZERO}, {2, FE_DOWNWARD}, {3, FE_UPWARD}};
const HostConstant guest_exception_flags[GUEST_EXCEPTIONS] = {
    {1, FE_INEXACT}, {2, FE_UNDERFLOW}, {4, FE_OVERFLOW}, {8, FE_DIVBYZERO}, {16, FE_INVALID}};
