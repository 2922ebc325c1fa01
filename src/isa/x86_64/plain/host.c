/* host.c: what helpers_host.h declares, on hosts of another kind. */
#include <signal.h>
#include <sys/random.h>
#include <time.h>

#include "isa/x86_64/helpers/helpers_host.h"
#include "isa/x86_64/plain/processor.h"

/* ----------------------------------------------------------------------------------------------------------- arithmetic */

void x86_host_divide(u64 out[2], u64 low, u64 high, u64 divisor) {
    unsigned __int128 a = (unsigned __int128)high << 64 | low;
    out[0] = (u64)(a / divisor);
    out[1] = (u64)(a % divisor);
}

/* Counts above 16 are undefined; CPUs go on into the first operand again. */
u64 lathe_x86_shift_double16(u64 a, u64 b, u64 count, u64 left) {
    u64 x = a & 0xffff, y = b & 0xffff, all = x << 32 | y << 16 | x;
    return (left ? all << count >> 32 : all >> count) & 0xffff;
}

/* ---------------------------------------------------------------------------------------------------------- extended state */

/* x87, SSE, AVX and the three of AVX-512: what the guest state has. */
enum { COMPONENTS = 0xe7, FEATURE_BITS = 0xffff };

u32 x86_host_mxcsr_mask(void) {
    return FEATURE_BITS;
}

u32 x86_host_get_mxcsr(const LatheX86Cpu *cpu) {
    return cpu->mxcsr;
}

void x86_host_set_mxcsr(LatheX86Cpu *cpu, u32 v) {
    cpu->mxcsr = v;
}

u64 x86_host_components(void) {
    return COMPONENTS;
}

/* As on CPUs that have all of them. */
u32 x86_host_component_offset(u32 component) {
    static const u16 offsets[] = {[2] = 576, [5] = 1088, [6] = 1152, [7] = 1664};
    return component < ARRAY_LEN(offsets) ? offsets[component] : 0;
}

void x86_host_protection_fault(void) {
    raise(SIGSEGV);
}

/* ----------------------------------------------------------------------------------------------------- questions of the guest */

static void set_operand_register(LatheX86Cpu *cpu, u64 v) {
    u32 no = cpu->trap_info & 0xff, bits = cpu->trap_info >> 8;
    u64 mask = bits == 64 ? ~(u64)0 : ((u64)1 << bits) - 1;
    cpu->gp[no] = bits == 16 ? (cpu->gp[no] & ~mask) | (v & mask) : v & mask;
}

static void answer(LatheX86Cpu *cpu, u32 a, u32 b, u32 c, u32 d) {
    cpu->gp[LATHE_RAX] = a;
    cpu->gp[LATHE_RBX] = b;
    cpu->gp[LATHE_RCX] = c;
    cpu->gp[LATHE_RDX] = d;
}

void lathe_x86_cpuid(LatheX86Cpu *cpu) {
    switch ((u32)cpu->gp[LATHE_RAX]) {
    case 0:
        answer(cpu, 1, 0x68747541, 0x444d4163, 0x69746e65); /* PLAIN_VENDOR */
        return;
    case 1:
        answer(cpu, 0x000006f0, 0x00000800, PLAIN_MORE_FEATURES, PLAIN_FEATURES);
        return;
    case 0x80000000:
        answer(cpu, 0x80000006, 0, 0, 0);
        return;
    case 0x80000001:
        answer(cpu, 0, 0, PLAIN_LATER_FEATURES, PLAIN_LATER_64_FEATURES);
        return;
    case 0x80000005:
        answer(cpu, 0, 0, PLAIN_LEVEL_1, PLAIN_LEVEL_1);
        return;
    case 0x80000006:
        answer(cpu, 0, 0, PLAIN_LEVEL_2, PLAIN_LEVEL_3);
        return;
    }
    answer(cpu, 0, 0, 0, 0);
}

/* Nanoseconds. */
static void set_time(LatheX86Cpu *cpu) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    u64 t = (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
    cpu->gp[LATHE_RAX] = (u32)t;
    cpu->gp[LATHE_RDX] = t >> 32;
}

void lathe_x86_rdtsc(LatheX86Cpu *cpu) {
    set_time(cpu);
}

void lathe_x86_rdtscp(LatheX86Cpu *cpu) {
    set_time(cpu);
    cpu->gp[LATHE_RCX] = 0;
}

void lathe_x86_xgetbv(LatheX86Cpu *cpu) {
    cpu->gp[LATHE_RAX] = x86_host_components();
    cpu->gp[LATHE_RDX] = 0;
}

void lathe_x86_rdpid(LatheX86Cpu *cpu) {
    set_operand_register(cpu, 0);
}

/* SDM 2B, RDRAND: CF says whether there was a number; without one the register is zero. */
void lathe_x86_rdrand(LatheX86Cpu *cpu) {
    u64 v = 0;
    bool ok = getrandom(&v, sizeof(v), 0) == sizeof(v);
    set_operand_register(cpu, ok ? v : 0);
    cpu->cf = ok;
    cpu->of = cpu->sf = cpu->zf = cpu->af = cpu->pf = 0;
}

void lathe_x86_rdseed(LatheX86Cpu *cpu) {
    lathe_x86_rdrand(cpu);
}
