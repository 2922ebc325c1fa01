/* cpuid.c: the processor that the guest sees: the host's, without what lifted code has no meaning for.
 *
 * Feature words are masked, not invented: a bit is set if the host has it and the table of instructions has its rows.
 * AVX and everything that needs xsave is off, so dynamic linkers and libraries choose their SSE paths. rdfsbase and
 * friends are off because fs and gs are the host's own.
 */
#include "run/client/client.h"

#define BIT(n) (1u << (n))

enum { EAX, EBX, ECX, EDX };

enum {
    LEAF1_ECX = BIT(0) | BIT(1) | BIT(9) | BIT(13)            /* sse3 pclmulqdq ssse3 cx16 */
                | BIT(19) | BIT(20) | BIT(22) | BIT(23)       /* sse4.1 sse4.2 movbe popcnt */
                | BIT(25) | BIT(30) | (int)BIT(31),           /* aes rdrand hypervisor */
    LEAF7_EBX = BIT(3) | BIT(8) | BIT(9) | BIT(18) | BIT(19)  /* bmi1 bmi2 erms rdseed adx */
                | BIT(23) | BIT(24) | BIT(29),                /* clflushopt clwb sha */
    LEAF7_ECX = BIT(8) | BIT(22) | BIT(25),                   /* gfni rdpid cldemote */
    LEAF7_EDX = BIT(4),                                       /* fast short rep mov */
    EXTENDED_ECX = BIT(0) | BIT(5) | BIT(8),                  /* lahf, lzcnt, prefetchw */
    EXTENDED_EDX_OFF = (int)(BIT(30) | BIT(31)),              /* 3dnow */
};

static void ask(u32 leaf, u32 sub, u32 r[4]) {
    __asm__ volatile("cpuid" : "=a"(r[EAX]), "=b"(r[EBX]), "=c"(r[ECX]), "=d"(r[EDX]) : "a"(leaf), "c"(sub));
}

static void clear(u32 r[4]) {
    r[EAX] = r[EBX] = r[ECX] = r[EDX] = 0;
}

static void mask_structured(u32 sub, u32 r[4]) {
    if (sub != 0) {
        clear(r);
        return;
    }
    r[EAX] = 0; /* no further subleaves */
    r[EBX] &= LEAF7_EBX;
    r[ECX] &= LEAF7_ECX;
    r[EDX] &= LEAF7_EDX;
}

static void mask(u32 leaf, u32 sub, u32 r[4]) {
    switch (leaf) {
    case 1:
        r[ECX] &= (u32)LEAF1_ECX;
        break;
    case 7:
        mask_structured(sub, r);
        break;
    case 0xd:  /* xsave areas */
    case 0x14: /* processor trace */
    case 0x19: /* key locker */
    case 0x1d: /* tiles */
    case 0x1e:
    case 0x24: /* AVX10 */
        clear(r);
        break;
    case 0x80000001:
        r[ECX] &= EXTENDED_ECX;
        r[EDX] &= ~(u32)EXTENDED_EDX_OFF;
        break;
    default:
        break;
    }
}

void guest_cpuid(LatheX86Cpu *cpu) {
    u32 leaf = (u32)cpu->gp[LATHE_RAX], sub = (u32)cpu->gp[LATHE_RCX], r[4];
    ask(leaf, sub, r);
    mask(leaf, sub, r);
    cpu->gp[LATHE_RAX] = r[EAX];
    cpu->gp[LATHE_RBX] = r[EBX];
    cpu->gp[LATHE_RCX] = r[ECX];
    cpu->gp[LATHE_RDX] = r[EDX];
}
