/* gain.h: is the new code worth having? */
#ifndef BINOPT_MACHINE_GAIN_H
#define BINOPT_MACHINE_GAIN_H

#include "binopt/x86_64/machine/order.h"

/* After live_run. */
bool gain_is_enough(const Unit *u, const Order *order);

#endif
