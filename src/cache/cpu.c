/* cpu.c: see cpu.h. */
#include "cache/cpu.h"

#include "cache/pack.h"

#ifdef __x86_64__
#include <cpuid.h>

/* Which parts of the state the system saves, and so which vector registers there are. */
static u64 enabled_state(void) {
    u32 low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (u64)high << 32 | low;
}

/* Of leaf 1, EBX tells the CPU's number: it is left out everywhere it means nothing else. */
u64 cpu_kind(void) {
    enum { OSXSAVE = 1 << 27 };
    u32 r[4][4] = {{0}};
    __get_cpuid(1, &r[0][0], &r[0][1], &r[0][2], &r[0][3]);
    r[0][1] = 0;
    __get_cpuid_count(7, 0, &r[1][0], &r[1][1], &r[1][2], &r[1][3]);
    __get_cpuid_count(7, 1, &r[2][0], &r[2][1], &r[2][2], &r[2][3]);
    __get_cpuid(0x80000001, &r[3][0], &r[3][1], &r[3][2], &r[3][3]);
    u64 state = r[0][2] & OSXSAVE ? enabled_state() : 0;
    return pack_hash(pack_hash(PACK_HASH_START, r, sizeof(r)), &state, sizeof(state)) | 1;
}
#else
u64 cpu_kind(void) {
    return 1;
}
#endif
