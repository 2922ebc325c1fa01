/* host_cpu.h: the x86-64 CPU that runs the client. */
#ifndef RUN_CLIENT_HOST_CPU_H
#define RUN_CLIENT_HOST_CPU_H

#include "base/base.h"

/* What cpuid answers, in this order. */
enum { CPUID_EAX, CPUID_EBX, CPUID_ECX, CPUID_EDX, CPUID_WORDS };

static inline void host_cpuid(u32 leaf, u32 sub, u32 r[CPUID_WORDS]) {
    __asm__ volatile("cpuid"
                     : "=a"(r[CPUID_EAX]), "=b"(r[CPUID_EBX]), "=c"(r[CPUID_ECX]), "=d"(r[CPUID_EDX])
                     : "a"(leaf), "c"(sub));
}

/* Which parts of its registers the kernel keeps for each thread, as bits of xsave's components; 0: it does not use xsave. */
static inline u64 host_kept_components(void) {
    enum { OSXSAVE = 1 << 27 };
    u32 r[CPUID_WORDS], low, high;
    host_cpuid(1, 0, r);
    if (!(r[CPUID_ECX] & OSXSAVE))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (u64)high << 32 | low;
}

/* Registers into an area of xsave, aligned to 64 bytes, and back: of these components. */
static inline void host_save_components(void *area, u64 components) {
    __asm__ volatile("xsave64 (%0)" : : "r"(area), "a"((u32)components), "d"((u32)(components >> 32)) : "memory");
}

static inline void host_load_components(const void *area, u64 components) {
    __asm__ volatile("xrstor64 (%0)" : : "r"(area), "a"((u32)components), "d"((u32)(components >> 32)) : "memory");
}

/* The same with an area of fxsave, aligned to 16 bytes: x87 and SSE. */
static inline void host_save_legacy(void *area) {
    __asm__ volatile("fxsave64 (%0)" : : "r"(area) : "memory");
}

static inline void host_load_legacy(const void *area) {
    __asm__ volatile("fxrstor64 (%0)" : : "r"(area) : "memory");
}

static inline void host_set_mxcsr(u32 mxcsr) {
    __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
}

#endif
