/* guest_slots.h: the registers of an x86-64 guest, for assembly. */
#ifndef GUEST_SLOTS_H
#define GUEST_SLOTS_H

#define CPU_GP(n) (CPU_GP_FIRST + 8 * (n))
#define CPU_VEC(n) (CPU_VEC_FIRST + 64 * (n))

/* The guest registers that translated code passes in host registers, in the order of the convention: rax rcx rdx rdi
 * rsi r8 r9 rbx rsp rbp, and the vectors. */
#define CPU_SLOT(n) CPU_SLOT_##n
#define CPU_SLOT_0 CPU_GP(0)
#define CPU_SLOT_1 CPU_GP(1)
#define CPU_SLOT_2 CPU_GP(2)
#define CPU_SLOT_3 CPU_GP(7)
#define CPU_SLOT_4 CPU_GP(6)
#define CPU_SLOT_5 CPU_GP(8)
#define CPU_SLOT_6 CPU_GP(9)
#define CPU_SLOT_7 CPU_GP(3)
#define CPU_SLOT_8 CPU_GP(4)
#define CPU_SLOT_9 CPU_GP(5)
#define CPU_FLOAT_SLOT(n) CPU_VEC(n)
#define EACH_FLOAT_SLOT(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define MOVE_FLOAT movaps
#define CPU_FLOAT_BYTES 16

#endif
