/* helpers_system.c: out-of-line parts of the base set: 128-bit division, and questions to the host's own CPU. */
#include "isa/x86_64/helpers/helpers.h"
#include "isa/x86_64/helpers/helpers_host.h"

/* out[0] = quotient, out[1] = remainder; 0 if the quotient does not fit into 64 bits. */
u32 lathe_x86_div128(u64 *out, u64 low, u64 high, u64 divisor) {
    if (high >= divisor)
        return 0;
    x86_host_divide(out, low, high, divisor);
    return 1;
}

u32 lathe_x86_idiv128(u64 *out, u64 low, u64 high, i64 divisor) {
    bool negative = (i64)high < 0;
    unsigned __int128 a = (unsigned __int128)high << 64 | low;
    a = negative ? -a : a;
    u64 b = divisor < 0 ? -(u64)divisor : (u64)divisor;
    if (!lathe_x86_div128(out, (u64)a, (u64)(a >> 64), b))
        return 0;
    bool minus = negative != (divisor < 0);
    if (out[0] > (u64)INT64_MAX + minus)
        return 0;
    out[0] = minus ? -out[0] : out[0];
    out[1] = negative ? -out[1] : out[1];
    return 1;
}

#define HELPER(name)                                                                                                   \
    { "lathe_x86_" #name, (void *)lathe_x86_##name }

const Helper x86_system_helpers[] = {
    HELPER(div128), HELPER(idiv128), HELPER(shift_double16), HELPER(cpuid),  HELPER(rdtsc), HELPER(rdtscp),
    HELPER(xgetbv), HELPER(rdpid),   HELPER(rdrand),         HELPER(rdseed), {NULL, NULL},
};
