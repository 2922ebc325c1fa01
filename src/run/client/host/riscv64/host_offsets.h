/* host_offsets.h: what assembly knows of a Thread. */
#ifndef RUN_CLIENT_HOST_OFFSETS_H
#define RUN_CLIENT_HOST_OFFSETS_H

#include "asm_offsets.h"
#include "guest_slots.h"

#endif
