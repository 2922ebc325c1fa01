/* host_slots.h: the registers that translated code has in the host's, to a Thread and from there. */
/* clang-format off */
#ifndef RUN_CLIENT_HOST_SLOTS_H
#define RUN_CLIENT_HOST_SLOTS_H

#include "host_offsets.h"

#if CPU_FLOAT_BYTES == 8
#define FLOAT(n) d##n
#else
#define FLOAT(n) q##n
#endif

.macro save_floats base
    str FLOAT(0), [\base, #CPU_FLOAT_SLOT(0)]
    str FLOAT(1), [\base, #CPU_FLOAT_SLOT(1)]
    str FLOAT(2), [\base, #CPU_FLOAT_SLOT(2)]
    str FLOAT(3), [\base, #CPU_FLOAT_SLOT(3)]
    str FLOAT(4), [\base, #CPU_FLOAT_SLOT(4)]
    str FLOAT(5), [\base, #CPU_FLOAT_SLOT(5)]
    str FLOAT(6), [\base, #CPU_FLOAT_SLOT(6)]
    str FLOAT(7), [\base, #CPU_FLOAT_SLOT(7)]
.endm

.macro load_floats base
    ldr FLOAT(0), [\base, #CPU_FLOAT_SLOT(0)]
    ldr FLOAT(1), [\base, #CPU_FLOAT_SLOT(1)]
    ldr FLOAT(2), [\base, #CPU_FLOAT_SLOT(2)]
    ldr FLOAT(3), [\base, #CPU_FLOAT_SLOT(3)]
    ldr FLOAT(4), [\base, #CPU_FLOAT_SLOT(4)]
    ldr FLOAT(5), [\base, #CPU_FLOAT_SLOT(5)]
    ldr FLOAT(6), [\base, #CPU_FLOAT_SLOT(6)]
    ldr FLOAT(7), [\base, #CPU_FLOAT_SLOT(7)]
.endm

.macro save base
    str x0, [\base, #CPU_SLOT(0)]
    str x1, [\base, #CPU_SLOT(1)]
    str x2, [\base, #CPU_SLOT(2)]
    str x3, [\base, #CPU_SLOT(3)]
    str x4, [\base, #CPU_SLOT(4)]
    str x5, [\base, #CPU_SLOT(5)]
    str x6, [\base, #CPU_SLOT(6)]
    save_floats \base
.endm

.macro restore base
    ldr x0, [\base, #CPU_SLOT(0)]
    ldr x1, [\base, #CPU_SLOT(1)]
    ldr x2, [\base, #CPU_SLOT(2)]
    ldr x3, [\base, #CPU_SLOT(3)]
    ldr x4, [\base, #CPU_SLOT(4)]
    ldr x5, [\base, #CPU_SLOT(5)]
    ldr x6, [\base, #CPU_SLOT(6)]
    load_floats \base
.endm

#endif
