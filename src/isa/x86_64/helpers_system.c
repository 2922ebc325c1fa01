/* helpers_system.c: out-of-line parts of the base set: 128-bit division, and questions to the host's own CPU. */
#include "isa/x86_64/helpers.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

/* -------------------------------------------------------------------------------------------------------------- division */

/* out[0] = quotient, out[1] = remainder; 0 if the quotient does not fit into 64 bits. */
static u32 div128(u64 *out, u64 low, u64 high, u64 divisor) {
    if (high >= divisor)
        return 0;
#ifdef __x86_64__
    __asm__("divq %4" : "=a"(out[0]), "=d"(out[1]) : "a"(low), "d"(high), "rm"(divisor) : "cc");
#else
    unsigned __int128 a = (unsigned __int128)high << 64 | low;
    out[0] = (u64)(a / divisor);
    out[1] = (u64)(a % divisor);
#endif
    return 1;
}

static u32 idiv128(u64 *out, u64 low, u64 high, i64 divisor) {
    bool negative = (i64)high < 0;
    unsigned __int128 a = (unsigned __int128)high << 64 | low;
    a = negative ? -a : a;
    u64 b = divisor < 0 ? -(u64)divisor : (u64)divisor;
    if (!div128(out, (u64)a, (u64)(a >> 64), b))
        return 0;
    bool minus = negative != (divisor < 0);
    if (out[0] > (u64)INT64_MAX + minus)
        return 0;
    out[0] = minus ? -out[0] : out[0];
    out[1] = negative ? -out[1] : out[1];
    return 1;
}

/* ---------------------------------------------------------------------------------------------------------------- shifts */

/* shld, or shrd, of 16 bits by 0 to 31, as the host's CPU has it. */
static u64 shift_double16(u64 a, u64 b, u64 count, u64 left) {
    u16 r = (u16)a;
#ifdef __x86_64__
    if (left)
        __asm__("shldw %%cl, %1, %0" : "+r"(r) : "r"((u16)b), "c"(count) : "cc");
    else
        __asm__("shrdw %%cl, %1, %0" : "+r"(r) : "r"((u16)b), "c"(count) : "cc");
#else
    u64 all = a << 32 | b << 16 | a;
    r = (u16)(left ? all << count >> 32 : all >> count);
#endif
    return r;
}

/* ------------------------------------------------------------------------------------------------------------- the host */

#ifdef __x86_64__

static void set_operand_register(LatheX86Cpu *cpu, u64 v) {
    u32 no = cpu->trap_info & 0xff, bits = cpu->trap_info >> 8;
    u64 mask = bits == 64 ? ~(u64)0 : ((u64)1 << bits) - 1;
    cpu->gp[no] = bits == 16 ? (cpu->gp[no] & ~mask) | (v & mask) : v & mask;
}

static void cpuid(LatheX86Cpu *cpu) {
    u32 a, b, c, d;
    __cpuid_count((u32)cpu->gp[LATHE_RAX], (u32)cpu->gp[LATHE_RCX], a, b, c, d);
    cpu->gp[LATHE_RAX] = a;
    cpu->gp[LATHE_RBX] = b;
    cpu->gp[LATHE_RCX] = c;
    cpu->gp[LATHE_RDX] = d;
}

static void set_time(LatheX86Cpu *cpu, u64 t) {
    cpu->gp[LATHE_RAX] = (u32)t;
    cpu->gp[LATHE_RDX] = t >> 32;
}

static void rdtsc(LatheX86Cpu *cpu) {
    set_time(cpu, __rdtsc());
}

static void rdtscp(LatheX86Cpu *cpu) {
    u32 id;
    set_time(cpu, __rdtscp(&id));
    cpu->gp[LATHE_RCX] = id;
}

static void xgetbv(LatheX86Cpu *cpu) {
    u32 a, d;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"((u32)cpu->gp[LATHE_RCX]));
    cpu->gp[LATHE_RAX] = a;
    cpu->gp[LATHE_RDX] = d;
}

static void rdpid(LatheX86Cpu *cpu) {
    u32 id;
    __rdtscp(&id);
    set_operand_register(cpu, id);
}

/* SDM 2B, RDRAND: CF says whether there was a number; without one the register is zero. */
static void set_random(LatheX86Cpu *cpu, u64 v, u8 ok) {
    set_operand_register(cpu, ok ? v : 0);
    cpu->cf = ok;
    cpu->of = cpu->sf = cpu->zf = cpu->af = cpu->pf = 0;
}

static void rdrand(LatheX86Cpu *cpu) {
    u64 v;
    u8 ok;
    __asm__ volatile("rdrand %0\n\tsetc %1" : "=r"(v), "=qm"(ok) : : "cc");
    set_random(cpu, v, ok);
}

static void rdseed(LatheX86Cpu *cpu) {
    u64 v;
    u8 ok;
    __asm__ volatile("rdseed %0\n\tsetc %1" : "=r"(v), "=qm"(ok) : : "cc");
    set_random(cpu, v, ok);
}

#endif

const Helper x86_system_helpers[] = {
    {"lathe_x86_div128", (void *)div128},
    {"lathe_x86_idiv128", (void *)idiv128},
    {"lathe_x86_shift_double16", (void *)shift_double16},
#ifdef __x86_64__
    {"lathe_x86_cpuid", (void *)cpuid},
    {"lathe_x86_rdtsc", (void *)rdtsc},
    {"lathe_x86_rdtscp", (void *)rdtscp},
    {"lathe_x86_xgetbv", (void *)xgetbv},
    {"lathe_x86_rdpid", (void *)rdpid},
    {"lathe_x86_rdrand", (void *)rdrand},
    {"lathe_x86_rdseed", (void *)rdseed},
#endif
    {NULL, NULL},
};
