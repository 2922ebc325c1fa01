/* guest.h: what the client knows of its guest's kind, which the folder guest/NAME has; a client is built with one of them.
 *
 *     abi/guest_cpu.h    the state: GuestCpu, its registers with a role in Linux's ABI; abi/guest_slots.h  the registers that assembly knows
 *     abi/guest_numbers.def  the numbers of system calls; abi/guest_calls.def and calls.c  those that only this guest has
 *     frame.c            signal frames; facts.c  the rest
 */
#ifndef RUN_CLIENT_GUEST_H
#define RUN_CLIENT_GUEST_H

#include "base/base.h"
#include "isa/helper.h"

typedef struct GuestFacts {
    const char *name;             /* for people */
    const char *platform;         /* AT_PLATFORM; NULL: none */
    u16 machine;                  /* of ELF files */
    u32 arch;                     /* LatheArch */
    u32 audit_arch;               /* the same for the kernel's filters */
    u64 hwcap, hwcap2;            /* AT_HWCAP and AT_HWCAP2: bits of the host's that the guest sees, */
    u64 more_hwcap;               /* and bits besides */
    u32 memory;                   /* MemoryOrder: what its threads count on */
    i32 illegal_code;             /* si_code of SIGILL for what is no instruction, */
    i32 break_code;               /* and of SIGTRAP at a breakpoint */
    bool is_hosts;                /* the host runs its instructions */
    const char *cpuinfo;          /* /proc/cpuinfo of one processor, with its number as %u twice; NULL: the host's */
    const Helper *const *helpers; /* tables of what translated code calls, ended by NULL */
} GuestFacts;

extern const GuestFacts guest_facts;

/* The instruction that n bytes of memory begin with, for people. */
void guest_describe(const u8 *bytes, size_t n, char *text, size_t size);

/* An interrupt of the guest's, whose number is in trap_info. True: it was a system call, and is made. */
struct Thread;
bool guest_interrupt(struct Thread *t);

extern const Helper client_helpers[]; /* code.c: what code of every guest calls */

#endif
