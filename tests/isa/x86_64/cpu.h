/* cpu.h: the CPU as the oracle of x86-64, for tests that want to know more than oracle.h tells. */
#ifndef ISA_X86_64_CPU_H
#define ISA_X86_64_CPU_H

#include "oracle.h"

/* Like oracle_run, and says how the run ended. A #GP is taken for `expected_trap` if that is one. */
NativeResult cpu_run(State *s, const u8 *code, size_t size, u32 expected_trap);

#endif
