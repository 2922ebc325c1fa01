/* cpu.c: facts of the x86-64 CPU that runs this. */
#include <cpuid.h>

#include "host/host.h"

typedef struct Facts {
    u32 leaves[4][4];
    u64 state;
} Facts;

_Static_assert(sizeof(Facts) == HOST_CPU_FACTS, "the facts have no gaps");

const LatheHost host_this = LATHE_HOST_X86_64;

/* Which parts of the state the system saves, and so which vector registers there are. */
static u64 enabled_state(void) {
    u32 low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (u64)high << 32 | low;
}

/* Of leaf 1, EBX tells the CPU's number: it is left out everywhere it means nothing else. */
size_t host_cpu_facts(u8 facts[HOST_CPU_FACTS]) {
    enum { OSXSAVE = 1 << 27 };
    Facts f = {0};
    u32(*r)[4] = f.leaves;
    __get_cpuid(1, &r[0][0], &r[0][1], &r[0][2], &r[0][3]);
    r[0][1] = 0;
    __get_cpuid_count(7, 0, &r[1][0], &r[1][1], &r[1][2], &r[1][3]);
    __get_cpuid_count(7, 1, &r[2][0], &r[2][1], &r[2][2], &r[2][3]);
    __get_cpuid(0x80000001, &r[3][0], &r[3][1], &r[3][2], &r[3][3]);
    f.state = r[0][2] & OSXSAVE ? enabled_state() : 0;
    memcpy(facts, &f, sizeof(f));
    return sizeof(f);
}

/* With rdpid it asks for the CPU's number by that, and else by lsl, which is not lifted. */
bool host_has_plain_vdso(void) {
    u32 a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && c & bit_RDPID;
}
