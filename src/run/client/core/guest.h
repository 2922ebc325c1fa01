/* guest.h: what the client has to know of its kind of guest. The folder guest/NAME has it; a client is built with one of these folders.
 *
 *     abi/guest_cpu.h        the state (GuestCpu), and the registers that have a role in Linux's ABI
 *     abi/guest_slots.h      the registers that assembly knows
 *     abi/guest_open.h       the flags of open(2)
 *     abi/guest_numbers.def  the numbers of system calls
 *     abi/guest_calls.def, calls.c  the system calls that only this guest has
 *     frame.c                signal frames
 *     view.c                 what tools see of an instruction: insn_view of isa/view.h
 *     transfer.c             where an instruction leads by the registers as they are
 *     caller.c               the callers of functions
 *     facts.c                the rest
 *
 * guest/generic has what guests share whose numbers, structures and calls are asm-generic's. */
#ifndef RUN_CLIENT_GUEST_H
#define RUN_CLIENT_GUEST_H

#include "base/base.h"
#include "guest_cpu.h"
#include "isa/helper.h"

typedef struct GuestFacts {
    const char *name;             /* for people */
    const char *platform;         /* AT_PLATFORM; NULL: none */
    u16 machine;                  /* of ELF files */
    u32 arch;                     /* LatheArch */
    u32 audit_arch;               /* AUDIT_ARCH_*, for the kernel's filters */
    u64 hwcap, hwcap2;            /* AT_HWCAP and AT_HWCAP2: the bits of the host's that the guest sees */
    u64 more_hwcap, more_hwcap2;  /* bits that the guest sees in addition */
    u64 signal_stack;             /* AT_MINSIGSTKSZ; 0: the host's */
    u64 signal_stack_least;       /* that sigaltstack takes */
    u32 memory;                   /* MemoryOrder: the order of memory accesses that its threads rely on */
    i32 illegal_code;             /* si_code of SIGILL for bytes that are no instruction */
    i32 break_code;               /* si_code of SIGTRAP at a breakpoint */
    bool is_hosts;                /* the host can execute its instructions */
    const char *cpuinfo;          /* /proc/cpuinfo of one processor, its number as %u twice; NULL: the host's */
    const Helper *const *helpers; /* the tables of functions that translated code calls, ended by NULL */
} GuestFacts;

extern const GuestFacts guest_facts;

/* Describes the instruction that n bytes of memory begin with, for people. */
void guest_describe(const u8 *bytes, size_t n, char *text, size_t size);

/* For tools: what the instruction with these bytes does. `flags` are as quick code has them.
 * guest_branches: is the branch taken, with the registers before it? guest_target: where does a jump or call to an address in a register lead?
 * guest_repeats: with the registers behind one pass of a repeated string instruction, does another pass follow? */
bool guest_branches(const GuestCpu *cpu, u64 flags, const u8 *text, u32 size);
u64 guest_target(const GuestCpu *cpu, const u8 *text, u32 size);
bool guest_repeats(const GuestCpu *cpu, u64 flags, const u8 *text, u32 size);

/* The guest has executed an interrupt whose number is in trap_info. Returns true if it was a system call, which is then
 * done. */
struct Thread;
bool guest_interrupt(struct Thread *t);

extern const Helper client_helpers[]; /* code.c: the functions that code of every guest calls */

#endif
