/* simd.h: the words that the AdvSIMD families share.
 *
 * A meaning knows vectors by their operands: of how many elements, of which size, and which half of the register (simd_field.c). One element, of the
 * scalar forms, is an integer and no vector, so that one family serves both.
 */
#ifndef ISA_AARCH64_SIMD_H
#define ISA_AARCH64_SIMD_H

#include "isa/aarch64/simd_field.h"

/* The size of an element of operand i, and its type as a whole: integers. */
static inline u32 a64v_bits(const Insn *in, int i) {
    return in->op[i].scale ? in->op[i].scale : in->op[i].bits;
}
static inline u32 a64v_lanes(const Insn *in, int i) {
    return in->op[i].bits / a64v_bits(in, i);
}
Ty a64v_of(Ty elem, u32 lanes); /* elem itself if it is one lane */
static inline Ty a64v_ty(const Insn *in, int i) {
    return a64v_of(ty_int(a64v_bits(in, i)), a64v_lanes(in, i));
}
Ty a64v_resized(Ty t, u32 elem_bits); /* as many lanes of integers of that size */

/* Operand i in its type; a lane that stands for all is in all of them. */
Val a64v_read(Lifter *l, const Insn *in, int i);
/* The same in the lanes of another type of as many bits. */
Val a64v_read_as(Lifter *l, const Insn *in, int i, Ty t);
/* Set operand i: what is above becomes zero; of an upper half, the lower one stays. */
void a64v_set(Lifter *l, const Insn *in, int i, Val v);

/* To elements of twice the size, and back. */
Val a64v_extend(Lifter *l, Val v, bool is_signed);
Val a64v_extend_to(Lifter *l, Val v, u32 elem_bits, bool is_signed);
Val a64v_narrow(Lifter *l, Val v);

/* Lanes of vectors; every second one of a then b, from lane `first` on. */
Val a64v_every_second(Lifter *l, Val a, Val b, int first);
Val a64v_half(Lifter *l, Val v, bool upper);
Val a64v_join(Lifter *l, Val low, Val high);

/* A lane is all ones where cond holds, else zero. */
Val a64v_mask(Lifter *l, Val cond, Ty t);

/* FPSR.QC is set if a and b differ in any lane. */
void a64v_saturates(Lifter *l, Val a, Val b);
/* The wide v, which is a signed number, limited to what elements of half its size can have, and then in such. */
Val a64v_saturate(Lifter *l, Val v, bool to_signed);
Val a64v_saturate_to(Lifter *l, Val v, u32 elem_bits, bool to_signed);
/* Of an unsigned number. */
Val a64v_saturate_unsigned(Lifter *l, Val v);

#endif
