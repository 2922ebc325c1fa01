/* native.h: runs guest instructions on the real CPU: the oracle of the x86-64 tests. x86-64 Linux hosts only.
 *
 * One guest at a time, single-threaded: the signals SEGV, BUS, ILL, FPE, TRAP and VTALRM of the process are taken.
 */
#ifndef ISA_NATIVE_H
#define ISA_NATIVE_H

#include "lathe/lift.h"

/* Where code runs if the guest's pc is 0: in the middle of an area below 2 GiB that is full of int3. */
#define NATIVE_CODE 0x1f008000u

/* How a run ended. `signal` is 0 if control left the code (cpu->pc says to where), else the signal that stopped it. */
typedef struct NativeResult {
    int signal;
    int code;       /* si_code; SI_KERNEL with SIGSEGV: #GP */
    uint64_t fault; /* si_addr */
} NativeResult;

/* Runs `code` at cpu->pc (0: NATIVE_CODE) with the whole of *cpu in the real registers until control leaves the bytes
 * or a signal stops it, and stores everything back. Registers this CPU lacks (AVX, AVX-512) stay
 * as they were. A run of more than about 0.1 s is stopped with SIGVTALRM. System calls are really made: pass none.
 * cpu->trap is not changed; after SIGTRAP by an int3 of the code itself the pc is after it. */
NativeResult native_run(LatheX86Cpu *cpu, const void *code, size_t size);

/* The trap that a signal of the guest's own instructions stands for: a LatheTrap, or one of state.h. #GP does not say why:
 * `expected`, if it is one. */
uint32_t native_trap_of(NativeResult r, uint32_t expected);

/* Calls a host function and survives its signals: signal 0 if it returned. For lifted code that may fault. */
NativeResult native_call(LatheEntry *entry, void *cpu);

/* How much of each vector register this CPU has: 16, 32 or 64 bytes (then also the registers 16–31 and k0–k7). */
unsigned native_vector_bytes(void);

#endif
