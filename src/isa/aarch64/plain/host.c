/* host.c: hosts without instructions for crypto of aarch64 guests, and whose floating-point environment is not the guest's: see helpers_host.h. */
#include "isa/aarch64/helpers_host.h"

bool a64_host_aes(A64Aes what, A64Block *state) {
    (void)what, (void)state;
    return false;
}

bool a64_host_sha256(A64Block *abcd, A64Block *efgh, const A64Block *schedule) {
    (void)abcd, (void)efgh, (void)schedule;
    return false;
}

bool a64_host_sha256_schedule(A64Block *d, const A64Block *n, const A64Block *m) {
    (void)d, (void)n, (void)m;
    return false;
}

bool a64_host_product(u64 a, u64 b, A64Block *product) {
    (void)a, (void)b, (void)product;
    return false;
}

/* Modes and flags are in the guest state alone. */
u32 a64_host_flags(void) {
    return 0;
}

void a64_host_begin(u32 fpcr) {
    (void)fpcr;
}
