/* guest_slots.h: the registers of an x86-64 guest, for assembly, where the host passes seven: see lift/convention.c. */
#ifndef GUEST_FOREIGN_SLOTS_H
#define GUEST_FOREIGN_SLOTS_H

#include "run/client/guest/x86_64/abi/guest_slots.h"

#undef CPU_SLOT_6
#define CPU_SLOT_6 CPU_GP(4)

#endif
