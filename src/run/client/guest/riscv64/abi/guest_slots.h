/* guest_slots.h: the registers of a riscv64 guest, for assembly. */
#ifndef GUEST_SLOTS_H
#define GUEST_SLOTS_H

#define CPU_X(n) (CPU_X_FIRST + 8 * (n))
#define CPU_F(n) (CPU_F_FIRST + 8 * (n))
#define CPU_LINK CPU_X(1) /* holds the return address when a function begins */

/* The guest registers that translated code passes in host registers, in the order of the convention: a0–a5 sp ra s0 s1;
 * fa0–fa5 fs0–fs3 ft0 ft1. */
#define CPU_SLOT(n) CPU_SLOT_##n
#define CPU_SLOT_0 CPU_X(10)
#define CPU_SLOT_1 CPU_X(11)
#define CPU_SLOT_2 CPU_X(12)
#define CPU_SLOT_3 CPU_X(13)
#define CPU_SLOT_4 CPU_X(14)
#define CPU_SLOT_5 CPU_X(15)
#define CPU_SLOT_6 CPU_X(2)
#define CPU_SLOT_7 CPU_X(1)
#define CPU_SLOT_8 CPU_X(8)
#define CPU_SLOT_9 CPU_X(9)
/* What quick code has in host registers besides, where the host has so many: a6 a7 s2–s5. */
#define CPU_SLOT_10 CPU_X(16)
#define CPU_SLOT_11 CPU_X(17)
#define CPU_SLOT_12 CPU_X(18)
#define CPU_SLOT_13 CPU_X(19)
#define CPU_SLOT_14 CPU_X(20)
#define CPU_SLOT_15 CPU_X(21)
#define CPU_FLOAT_SLOT(n) CPU_FLOAT_SLOT_##n
#define CPU_FLOAT_SLOT_0 CPU_F(10)
#define CPU_FLOAT_SLOT_1 CPU_F(11)
#define CPU_FLOAT_SLOT_2 CPU_F(12)
#define CPU_FLOAT_SLOT_3 CPU_F(13)
#define CPU_FLOAT_SLOT_4 CPU_F(14)
#define CPU_FLOAT_SLOT_5 CPU_F(15)
#define CPU_FLOAT_SLOT_6 CPU_F(8)
#define CPU_FLOAT_SLOT_7 CPU_F(9)
#define CPU_FLOAT_SLOT_8 CPU_F(18)
#define CPU_FLOAT_SLOT_9 CPU_F(19)
#define CPU_FLOAT_SLOT_10 CPU_F(0)
#define CPU_FLOAT_SLOT_11 CPU_F(1)
#define EACH_FLOAT_SLOT(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11)
#define MOVE_FLOAT movsd
#define CPU_FLOAT_BYTES 8

#endif
