/* features.c: does this CPU run stencils? */
#include "host_cpu.h"
#include "run/client/code/quick/quick.h"

/* Stencils are compiled for processors with at least this (Host.stencil_cpu), and for a kernel that keeps ymm. */
enum { LEAF_1_ECX = 1 << 12 /* FMA */ | 1 << 22 /* MOVBE */ | 1 << 29 /* F16C */ };
enum { LEAF_7_EBX = 1 << 3 /* BMI1 */ | 1 << 5 /* AVX2 */ | 1 << 8 /* BMI2 */ };
enum { LEAF_80000001_ECX = 1 << 5 /* LZCNT */ };
enum { COMPONENTS = 1 << 1 /* xmm */ | 1 << 2 /* the upper halves of ymm */ };

static bool has(u32 leaf, u32 reg, u32 bits) {
    u32 r[CPUID_WORDS];
    host_cpuid(leaf, 0, r);
    return (r[reg] & bits) == bits;
}

bool quick_works(void) {
    return has(1, CPUID_ECX, LEAF_1_ECX) && has(7, CPUID_EBX, LEAF_7_EBX) &&
           has(0x80000001, CPUID_ECX, LEAF_80000001_ECX) && (host_kept_components() & COMPONENTS) == COMPONENTS;
}
