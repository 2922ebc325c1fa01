/* x86_registers.h: on a host of another kind no register of the guest is the host's: all are in its state, always. The guest's CPU has no xsave. */
#ifndef X86_REGISTERS_H
#define X86_REGISTERS_H

#include "host_cpu.h"

enum { CPUID_EAX, CPUID_EBX, CPUID_ECX, CPUID_EDX, CPUID_WORDS };

static inline u64 host_kept_components(void) {
    return 0;
}

static inline u64 host_permitted_components(void) {
    return 0;
}

#define NOT_HERE(name, ...)                                                                                            \
    static inline void name(__VA_ARGS__) {                                                                             \
        CHECK(false, "the guest's registers are in its state");                                                        \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
NOT_HERE(host_cpuid, u32 leaf, u32 sub, u32 r[CPUID_WORDS])
NOT_HERE(host_save_components, void *area, u64 components)
NOT_HERE(host_load_components, const void *area, u64 components)
NOT_HERE(host_save_legacy, void *area)
NOT_HERE(host_load_legacy, const void *area)
#pragma GCC diagnostic pop

static inline u64 host_fs_base(void) {
    CHECK(false, "the guest's registers are in its state");
}

#endif
