/* helpers_host.h: what helpers of this guest need of the host: instructions of its own where it is of the guest's kind
 * (src/host/x86_64), else plain C (plain/host.c). */
#ifndef ISA_X86_64_HELPERS_HOST_H
#define ISA_X86_64_HELPERS_HOST_H

#include "base/base.h"
#include "lathe/types.h"

/* The quotient, which must fit, and the remainder. */
void x86_host_divide(u64 out[2], u64 low, u64 high, u64 divisor);

/* Which bits mxcsr has; mxcsr as the guest has it now. */
u32 x86_host_mxcsr_mask(void);
u32 x86_host_get_mxcsr(const LatheX86Cpu *cpu);
void x86_host_set_mxcsr(LatheX86Cpu *cpu, u32 v);

/* State components that XSAVE knows, as xcr0 has them, and where each one is in the standard layout. */
u64 x86_host_components(void);
u32 x86_host_component_offset(u32 component);

/* #GP of the guest: a signal of the host that says the same. */
void x86_host_protection_fault(void);

/* shld, or shrd, of 16 bits by 0 to 31, as the CPU has it. */
u64 lathe_x86_shift_double16(u64 a, u64 b, u64 count, u64 left);

/* These are instructions: with the whole guest state in *cpu. */
void lathe_x86_cpuid(LatheX86Cpu *cpu);
void lathe_x86_rdtsc(LatheX86Cpu *cpu);
void lathe_x86_rdtscp(LatheX86Cpu *cpu);
void lathe_x86_xgetbv(LatheX86Cpu *cpu);
void lathe_x86_rdpid(LatheX86Cpu *cpu);
void lathe_x86_rdrand(LatheX86Cpu *cpu);
void lathe_x86_rdseed(LatheX86Cpu *cpu);

#endif
