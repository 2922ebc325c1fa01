/* x86_helpers_x87.h: how one x87 instruction of the host is run for the guest's x87 unit.
 *
 * An operation is the very instruction of the host, on operands taken from the guest state, under the guest's rounding
 * and precision control and with all exceptions masked. What it leaves in the host's status word goes into the guest's.
 * Stack faults and unmasked exceptions, which the host must not see, are done by hand. The host's x87 stack is empty
 * between helpers, as the C ABI has it.
 */
#ifndef HOST_X86_64_X86_HELPERS_X87_H
#define HOST_X86_64_X86_HELPERS_X87_H

typedef long double Extended;

#include "isa/x86_64/helpers/helpers_x87_stack.h"

/* What is to be given back: its control word; and whether all its exception flags come from the guest's instruction. */
typedef struct HostFpu {
    u16 cw;
    bool clean;
} HostFpu;

static inline void fpu_clear_host(HostFpu *host) {
    asm volatile("fnclex");
    host->clean = true;
}

/* Gives the host the guest's control word, with all exceptions masked. Where the guest has some unmasked, it matters
 * which flags are new. */
static inline HostFpu fpu_enter(const LatheX86Cpu *cpu) {
    HostFpu host = {0};
    u16 guest = cpu->fpu_cw | FPU_EXCEPTIONS;
    asm volatile("fnstcw %0" : "=m"(host.cw));
    if (host.cw != guest)
        asm volatile("fldcw %0" : : "m"(guest));
    if (~cpu->fpu_cw & FPU_EXCEPTIONS)
        fpu_clear_host(&host);
    return host;
}

/* The instruction's assembly ends with this, into the variable sw: what the compiler does with x87 registers between
 * two pieces of assembly changes C1. */
#define FPU_STATUS "\n\tfnstsw %[sw]"

/* Must the instruction be run again? Looking at the host's flags before each one would be slow, so they are looked at
 * afterwards only. A flag that the guest does not have yet may be old: then it is repeated with a clean status. */
static inline bool fpu_again(const LatheX86Cpu *cpu, HostFpu *host, u16 sw) {
    if (host->clean || !(sw & ~cpu->fpu_sw & FPU_EXCEPTIONS))
        return false;
    fpu_clear_host(host);
    return true;
}

/* A flag of the guest's must not become pending where the host has it unmasked. */
static inline void fpu_leave(const LatheX86Cpu *cpu, const HostFpu *host) {
    if (host->cw == (cpu->fpu_cw | FPU_EXCEPTIONS))
        return;
    if (~host->cw & FPU_EXCEPTIONS)
        asm volatile("fnclex");
    asm volatile("fldcw %0" : : "m"(host->cw));
}

#endif
