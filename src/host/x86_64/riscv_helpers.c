/* riscv_helpers.c: mxcsr as the floating-point environment of a riscv64 guest. */
#include "isa/riscv64/helpers_host.h"
#include "isa/softfloat.h"
#include "lathe/lift.h"

enum { ALL_MASKED = 0x1f80, ROUNDING_SHIFT = 13 };

static u32 get_host(void) {
    u32 v;
    __asm__ volatile("stmxcsr %0" : "=m"(v));
    return v;
}

static void set_host(u32 v) {
    __asm__ volatile("ldmxcsr %0" : : "m"(v));
}

/* mxcsr has the flags in the other order, and one more. */
u8 rv_host_flags(void) {
    u32 v = get_host();
    return (u8)((v & 1) << 4 | (v & 4) << 1 | (v & 8) >> 1 | (v & 0x10) >> 3 | (v & 0x20) >> 5);
}

void rv_host_begin(u8 frm) {
    set_host(ALL_MASKED | (0x9cu >> 2 * frm & 3) << ROUNDING_SHIFT); /* 0, 3, 1, 2 */
}

uint32_t lathe_riscv64_enter(const LatheRiscv64Cpu *cpu) {
    u32 host = get_host();
    rv_host_begin(cpu->frm);
    return host;
}

void lathe_riscv64_leave(LatheRiscv64Cpu *cpu, uint32_t host) {
    cpu->fflags |= rv_host_flags();
    set_host(host);
}

static u64 host_fma(const SoftFormat *f, u64 a, u64 b, u64 c) {
    static const u8 rounding[] = {SOFT_NEAREST_EVEN, SOFT_DOWN, SOFT_UP, SOFT_TO_ZERO};
    u32 host = get_host();
    SoftEnv e = {.rounding = rounding[host >> ROUNDING_SHIFT & 3]};
    u64 r = soft_fma(&e, f, a, b, c);
    u32 raised = (e.flags >> 4 & 1) | (e.flags & 8) >> 1 | (e.flags & 4) << 1 | (e.flags & 2) << 3 | (e.flags & 1) << 5;
    set_host(host | raised);
    return r;
}

double rv_host_fma(double a, double b, double c) {
    u64 x, y, z;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    memcpy(&z, &c, 8);
    x = host_fma(&soft_f64, x, y, z);
    memcpy(&a, &x, 8);
    return a;
}

float rv_host_fmaf(float a, float b, float c) {
    u32 x, y, z;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    memcpy(&z, &c, 4);
    x = (u32)host_fma(&soft_f32, x, y, z);
    memcpy(&a, &x, 4);
    return a;
}
