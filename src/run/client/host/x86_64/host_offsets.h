/* host_offsets.h: the offsets of a Thread's members, for assembly. */
#ifndef RUN_CLIENT_HOST_OFFSETS_H
#define RUN_CLIENT_HOST_OFFSETS_H

#include "asm_offsets.h"
#include "guest_slots.h"

#define THREAD_C(n) (THREAD_C_FIRST + 8 * (n))

#endif
