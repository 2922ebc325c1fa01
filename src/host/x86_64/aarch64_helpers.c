/* aarch64_helpers.c: mxcsr as the floating-point environment of an aarch64 guest, see aarch64_forms.c; and 128 bits at once for stencils. */
#include "host/x86_64/mxcsr.h"
#include "isa/aarch64/helpers.h"
#include "isa/aarch64/helpers_host.h"

u32 a64_host_flags(void) {
    u32 v;
    __asm__ volatile("stmxcsr %0" : "=m"(v));
    return (v & 1) | (v >> 1 & 0x1e);
}

void a64_host_begin(u32 fpcr) {
    u32 mode = fpcr >> 22 & 3, rounding = (mode & 1) << 1 | mode >> 1;
    u32 v = MXCSR_MASKED | rounding << MXCSR_ROUNDING_SHIFT | (fpcr >> 24 & 1 ? MXCSR_FLUSHES : 0);
    __asm__ volatile("ldmxcsr %0" : : "m"(v));
}

/* ------------------------------------------------------------------------------------------------------------- 128 bits
 *
 * The instruction that compares and exchanges them wants a register that holds one of the guest's. Here registers are pointers into the state, NULL the one that is always
 * zero. The address is a multiple of 16, and has been written to. */

static bool swapped(u64 *address, u64 expected[2], u64 low, u64 high) {
    bool same;
    __asm__ volatile("lock cmpxchg16b %[there]"
                     : [there] "+m"(*(unsigned __int128 *)address), "+a"(expected[0]), "+d"(expected[1]), "=@ccz"(same)
                     : "b"(low), "c"(high)
                     : "memory");
    return same;
}

static u64 value_of(const u64 *reg) {
    return reg ? *reg : 0;
}

/* stxp: 1 if memory has another value than the one that was reserved. */
u64 lathe_aarch64_store_pair(const LatheAarch64Cpu *cpu, u64 *address, const u64 *low, const u64 *high) {
    u64 expected[2] = {cpu->reserved_value, cpu->reserved_high};
    return !swapped(address, expected, value_of(low), value_of(high));
}

/* The register behind x30 is the one that is always zero. */
static u64 *next_of(const LatheAarch64Cpu *cpu, u64 *reg) {
    enum { LAST = 30 };
    return reg == &cpu->x[LAST] ? NULL : reg + 1;
}

/* casp: each is the first of two registers. */
u64 lathe_aarch64_swap_pair(const LatheAarch64Cpu *cpu, u64 *address, u64 *expected, u64 *stored) {
    u64 *high = next_of(cpu, expected), words[2] = {*expected, value_of(high)};
    swapped(address, words, *stored, value_of(next_of(cpu, stored)));
    *expected = words[0];
    if (high)
        *high = words[1];
    return 0;
}

const Helper a64_stencil_helpers[] = {{"lathe_aarch64_store_pair", (void *)lathe_aarch64_store_pair},
                                      {"lathe_aarch64_swap_pair", (void *)lathe_aarch64_swap_pair},
                                      {NULL, NULL}};
