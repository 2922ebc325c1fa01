/* x86_helpers_cpu.c: what helpers of x86-64 guests ask the host's CPU for, where that is of their kind. */
#include <cpuid.h>
#include <x86intrin.h>

#include "isa/x86_64/helpers/helpers_host.h"

/* ----------------------------------------------------------------------------------------------------------- arithmetic */

void x86_host_divide(u64 out[2], u64 low, u64 high, u64 divisor) {
    __asm__("divq %4" : "=a"(out[0]), "=d"(out[1]) : "a"(low), "d"(high), "rm"(divisor) : "cc");
}

u64 lathe_x86_shift_double16(u64 a, u64 b, u64 count, u64 left) {
    u16 r = (u16)a;
    if (left)
        __asm__("shldw %%cl, %1, %0" : "+r"(r) : "r"((u16)b), "c"(count) : "cc");
    else
        __asm__("shrdw %%cl, %1, %0" : "+r"(r) : "r"((u16)b), "c"(count) : "cc");
    return r;
}

/* ---------------------------------------------------------------------------------------------------------- extended state */

u32 x86_host_mxcsr_mask(void) {
    enum { MASK_OFF = 28 };
    _Alignas(16) u8 area[512];
    u32 mask;
    __asm__ volatile("fxsave %0" : "=m"(area));
    memcpy(&mask, area + MASK_OFF, 4);
    return mask;
}

u32 x86_host_get_mxcsr(const LatheX86Cpu *cpu) {
    (void)cpu;
    return _mm_getcsr();
}

void x86_host_set_mxcsr(LatheX86Cpu *cpu, u32 v) {
    (void)cpu;
    _mm_setcsr(v);
}

u64 x86_host_components(void) {
    u32 low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (u64)high << 32 | low;
}

u32 x86_host_component_offset(u32 component) {
    u32 a, b, c, d;
    __cpuid_count(0xd, component, a, b, c, d);
    return b;
}

/* An access to no canonical address. */
void x86_host_protection_fault(void) {
    (void)*(volatile u8 *)((uintptr_t)1 << 63);
}

/* ----------------------------------------------------------------------------------------------------- questions of the guest */

static void set_operand_register(LatheX86Cpu *cpu, u64 v) {
    u32 no = cpu->trap_info & 0xff, bits = cpu->trap_info >> 8;
    u64 mask = bits == 64 ? ~(u64)0 : ((u64)1 << bits) - 1;
    cpu->gp[no] = bits == 16 ? (cpu->gp[no] & ~mask) | (v & mask) : v & mask;
}

void lathe_x86_cpuid(LatheX86Cpu *cpu) {
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

void lathe_x86_rdtsc(LatheX86Cpu *cpu) {
    set_time(cpu, __rdtsc());
}

void lathe_x86_rdtscp(LatheX86Cpu *cpu) {
    u32 id;
    set_time(cpu, __rdtscp(&id));
    cpu->gp[LATHE_RCX] = id;
}

void lathe_x86_xgetbv(LatheX86Cpu *cpu) {
    u32 a, d;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"((u32)cpu->gp[LATHE_RCX]));
    cpu->gp[LATHE_RAX] = a;
    cpu->gp[LATHE_RDX] = d;
}

void lathe_x86_rdpid(LatheX86Cpu *cpu) {
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

void lathe_x86_rdrand(LatheX86Cpu *cpu) {
    u64 v;
    u8 ok;
    __asm__ volatile("rdrand %0\n\tsetc %1" : "=r"(v), "=qm"(ok) : : "cc");
    set_random(cpu, v, ok);
}

void lathe_x86_rdseed(LatheX86Cpu *cpu) {
    u64 v;
    u8 ok;
    __asm__ volatile("rdseed %0\n\tsetc %1" : "=r"(v), "=qm"(ok) : : "cc");
    set_random(cpu, v, ok);
}
