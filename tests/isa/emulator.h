/* emulator.h: what a guest that is not of the host's kind tells its oracle, besides guest.h. */
#ifndef ISA_EMULATOR_H
#define ISA_EMULATOR_H

#include "state.h"

/* The guest's instructions, as far as a version of qemu has them: the first that it accepts. */
extern const char *const guest_cpus[];
extern const size_t guest_cpu_count;

/* The state after a run on the oracle; what that does not show stays. */
void guest_take(GuestCpu *cpu, const GuestCpu *after);

#endif
