/* foreign.c: the x86-64 side of programs that were raised for another machine: see isa/foreign.h. */
#include "isa/foreign.h"

#include "isa/x86_64/helpers/helpers_host.h"
#include "lathe/types.h"

enum { INTS = 6, FLOATS = 8, SAVED_FLOATS_END = 48 + 16 * FLOATS, MXCSR_DEFAULT = 0x1f80, CONTROL_DEFAULT = 0x37f };

static const u8 int_args[INTS] = {LATHE_RDI, LATHE_RSI, LATHE_RDX, LATHE_RCX, LATHE_R8, LATHE_R9};

struct GuestCpu {
    LatheX86Cpu x;
};

const size_t guest_cpu_bytes = sizeof(GuestCpu);
const bool guest_result_apart = false;

/* ------------------------------------------------------------------------------------------------- native code calls in */

/* The return address, which nobody looks at, and the arguments behind the sixth. */
u64 guest_push_arguments(u64 stack, const ForeignRegs *args) {
    u64 *at = (u64 *)((stack & -(u64)64) - 64 + 8);
    at[0] = 0;
    at[1] = args->ints[INTS];
    at[2] = args->ints[INTS + 1];
    return (u64)at;
}

void guest_enter(GuestCpu *cpu, const ForeignRegs *args, u64 stack, u8 *thread) {
    LatheX86Cpu *x = &cpu->x;
    for (int i = 0; i < INTS; i++)
        x->gp[int_args[i]] = args->ints[i];
    for (int i = 0; i < FLOATS; i++)
        memcpy(x->vec[i], &args->floats[i], sizeof(args->floats[i]));
    x->gp[LATHE_RAX] = FLOATS;
    x->gp[LATHE_R10] = 0;
    x->gp[LATHE_RSP] = stack;
    x->cf = x->pf = x->af = x->zf = x->sf = x->of = x->df = x->id = 0;
    x->trap = x->trap_info = 0;
    x->mxcsr = MXCSR_DEFAULT;
    x->fpu_cw = CONTROL_DEFAULT;
    x->fpu_sw = x->fpu_opcode = 0;
    x->fpu_top = x->fpu_tag = 0;
    x->fpu_ip = x->fpu_dp = 0;
    x->fsbase = (u64)thread;
    x->gsbase = 0;
    memcpy(thread, &x->fsbase, sizeof(x->fsbase));
}

void guest_results(const GuestCpu *cpu, ForeignRegs *results) {
    const LatheX86Cpu *x = &cpu->x;
    results->ints[0] = x->gp[LATHE_RAX];
    results->ints[1] = x->gp[LATHE_RDX];
    for (int i = 0; i < 2; i++)
        memcpy(&results->floats[i], x->vec[i], sizeof(results->floats[i]));
}

/* --------------------------------------------------------------------------------------------------- raised code calls out */

u64 guest_target(const GuestCpu *cpu) {
    return cpu->x.pc;
}

void guest_arguments(const GuestCpu *cpu, ForeignRegs *args) {
    const LatheX86Cpu *x = &cpu->x;
    const u64 *stack = (const u64 *)x->gp[LATHE_RSP];
    for (int i = 0; i < INTS; i++)
        args->ints[i] = x->gp[int_args[i]];
    for (int i = INTS; i < FOREIGN_INTS; i++)
        args->ints[i] = stack[1 + i - INTS];
    for (int i = 0; i < FLOATS; i++)
        memcpy(&args->floats[i], x->vec[i], sizeof(args->floats[i]));
    args->stack = (u64)stack;
}

void guest_set_results(GuestCpu *cpu, const ForeignRegs *results) {
    LatheX86Cpu *x = &cpu->x;
    x->gp[LATHE_RAX] = results->ints[0];
    x->gp[LATHE_RDX] = results->ints[1];
    for (int i = 0; i < 2; i++)
        memcpy(x->vec[i], &results->floats[i], sizeof(results->floats[i]));
}

void lathe_raise_cpuid(LatheX86Cpu *cpu) {
    lathe_x86_cpuid(cpu);
}

/* ----------------------------------------------------------------------------------------------------- variable arguments */

ForeignList guest_list(const ForeignRegs *args, u32 ints, u32 floats) {
    const u64 *stack = (const u64 *)args->stack + 1; /* behind the return address */
    return foreign_list(args, ints, floats, INTS, FLOATS, stack);
}

/* System V ABI, x86-64 supplement, 3.5.7: the va_list type. */
ForeignList guest_list_of(const void *list) {
    struct {
        u32 int_off, float_off;
        const u64 *overflow;
        const u8 *saved;
    } va;
    memcpy(&va, list, sizeof(va));
    return (ForeignList){.ints = (const u64 *)(va.saved + va.int_off),
                         .floats = va.saved + va.float_off,
                         .int_count = va.int_off < INTS * 8 ? INTS - va.int_off / 8 : 0,
                         .float_count = va.float_off < SAVED_FLOATS_END ? (SAVED_FLOATS_END - va.float_off) / 16 : 0,
                         .stack = va.overflow};
}

/* ------------------------------------------------------------------------------------------------------------- long double */

const void *guest_next_extended(ForeignList *list) {
    const u64 *at = (const u64 *)(((u64)list->stack + 15) & -(u64)16);
    list->stack = at + 2;
    return at;
}

/* The format of x87 with its 64 bits of precision, as binary128: all of its numbers are in there. */
long double guest_extended(const void *at) {
    u64 mantissa;
    u16 head;
    memcpy(&mantissa, at, sizeof(mantissa));
    memcpy(&head, (const u8 *)at + 8, sizeof(head));
    int exponent = head & 0x7fff;
    bool negative = head >> 15;
    long double v;
    if (exponent == 0x7fff)
        v = mantissa << 1 ? __builtin_nanl("") : __builtin_infl();
    else
        v = __builtin_ldexpl((long double)mantissa, (exponent ? exponent : 1) - 0x3fff - 63);
    return negative ? -v : v;
}

static void put_extended(u8 *at, long double v) {
    int exponent;
    u64 mantissa = 0;
    u16 head = __builtin_signbit(v) ? 0x8000 : 0;
    if (__builtin_isnan(v) || __builtin_isinf(v)) {
        head |= 0x7fff;
        mantissa = __builtin_isnan(v) ? (u64)3 << 62 : (u64)1 << 63;
    } else if (v != 0) {
        long double part = __builtin_frexpl(v < 0 ? -v : v, &exponent);
        part = __builtin_rintl(__builtin_ldexpl(part, 64)); /* to 64 bits, rounded to even */
        if (part >= 0x1p64L) {
            part /= 2;
            exponent++;
        }
        mantissa = (u64)part;
        if (exponent + 0x3ffe <= 0) /* too small for the format's own exponent, as its smallest numbers are */
            mantissa = (u64)__builtin_rintl(__builtin_ldexpl(v < 0 ? -v : v, 0x3ffe + 63));
        else if (exponent + 0x3ffe >= 0x7fff) {
            head |= 0x7fff;
            mantissa = (u64)1 << 63;
        } else
            head |= (u16)(exponent + 0x3ffe);
    }
    memset(at, 0, 16);
    memcpy(at, &mantissa, sizeof(mantissa));
    memcpy(at + 8, &head, sizeof(head));
}

/* A function's result is the only number on the x87 stack. */
void lathe_raise_extended_result(GuestCpu *cpu, long double v) {
    cpu->x.fpu_top = 7;
    cpu->x.fpu_tag = 0x80;
    put_extended(cpu->x.st[7], v);
}
