/* gain.h: decides whether the new code is better than the original. */
#ifndef BINOPT_MACHINE_GAIN_H
#define BINOPT_MACHINE_GAIN_H

#include "binopt/x86_64/machine/order.h"

/* Called after live_run. */
bool gain_is_enough(const MachineUnit *u, const BlockOrder *order);

#endif
