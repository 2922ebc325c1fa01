/* cpuid.c: the processor that the guest sees on a host of another kind: always the same. */
#include "guest_cpu.h"
#include "isa/x86_64/helpers/helpers_host.h"

bool guest_has_only_rows(void) {
    return true;
}

void guest_cpuid(GuestCpu *cpu) {
    lathe_x86_cpuid(cpu);
}
