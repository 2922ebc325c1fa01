/* host.c: what helpers_host.h declares, on hosts whose environment is not the guest's: mode and flags are in the guest state alone. */
#include <math.h>

#include "isa/riscv64/helpers_host.h"
#include "lathe/types.h"

double rv_host_fma(double a, double b, double c) {
    return fma(a, b, c);
}

float rv_host_fmaf(float a, float b, float c) {
    return fmaf(a, b, c);
}

u8 rv_host_flags(void) {
    return 0;
}

void rv_host_begin(u8 frm) {
    (void)frm;
}

uint32_t lathe_riscv64_enter(const LatheRiscv64Cpu *cpu) {
    (void)cpu;
    return 0;
}

void lathe_riscv64_leave(LatheRiscv64Cpu *cpu, uint32_t host) {
    (void)cpu;
    (void)host;
}
