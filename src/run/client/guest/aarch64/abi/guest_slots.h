/* guest_slots.h: the registers of an aarch64 guest, for assembly. */
#ifndef GUEST_SLOTS_H
#define GUEST_SLOTS_H

#define CPU_X(n) (CPU_X_FIRST + 8 * (n)) /* 31 is the stack pointer */
#define CPU_V(n) (CPU_V_FIRST + 16 * (n))
#define CPU_LINK CPU_X(30) /* holds the return address when a function begins */

/* The guest registers that translated code passes in host registers, in the order of the convention: x0 x1 x5 x3 x4 x2 sp x30 x19 x20; v0–v9 v16 v17. */
#define CPU_SLOT(n) CPU_SLOT_##n
#define CPU_SLOT_0 CPU_X(0)
#define CPU_SLOT_1 CPU_X(1)
#define CPU_SLOT_2 CPU_X(5)
#define CPU_SLOT_3 CPU_X(3)
#define CPU_SLOT_4 CPU_X(4)
#define CPU_SLOT_5 CPU_X(2)
#define CPU_SLOT_6 CPU_X(31)
#define CPU_SLOT_7 CPU_X(30)
#define CPU_SLOT_8 CPU_X(19)
#define CPU_SLOT_9 CPU_X(20)
/* What quick code has in host registers besides, where the host has so many: x6–x8 x21–x23. */
#define CPU_SLOT_10 CPU_X(6)
#define CPU_SLOT_11 CPU_X(7)
#define CPU_SLOT_12 CPU_X(8)
#define CPU_SLOT_13 CPU_X(21)
#define CPU_SLOT_14 CPU_X(22)
#define CPU_SLOT_15 CPU_X(23)
#define CPU_FLOAT_SLOT(n) CPU_FLOAT_SLOT_##n
#define CPU_FLOAT_SLOT_0 CPU_V(0)
#define CPU_FLOAT_SLOT_1 CPU_V(1)
#define CPU_FLOAT_SLOT_2 CPU_V(2)
#define CPU_FLOAT_SLOT_3 CPU_V(3)
#define CPU_FLOAT_SLOT_4 CPU_V(4)
#define CPU_FLOAT_SLOT_5 CPU_V(5)
#define CPU_FLOAT_SLOT_6 CPU_V(6)
#define CPU_FLOAT_SLOT_7 CPU_V(7)
#define CPU_FLOAT_SLOT_8 CPU_V(8)
#define CPU_FLOAT_SLOT_9 CPU_V(9)
#define CPU_FLOAT_SLOT_10 CPU_V(16)
#define CPU_FLOAT_SLOT_11 CPU_V(17)
#define EACH_FLOAT_SLOT(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11)
#define MOVE_FLOAT movaps
#define CPU_FLOAT_BYTES 16

#endif
