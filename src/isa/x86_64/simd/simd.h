/* simd.h: the words that the integer SIMD families share.
 *
 * One family serves the MMX and the SSE form of an instruction: lanes come from the width of operand 0. Where a host has the
 * instruction itself (forms.h) and plain IR would not become it again, that is asked for.
 */
#ifndef ISA_X86_64_SIMD_H
#define ISA_X86_64_SIMD_H

#include "isa/x86_64/x86_64.h"

/* All of operand 0 in lanes of elem. */
static inline Ty simd_ty(const Insn *in, Ty elem) {
    return ty_vector(elem, width(in, 0));
}

/* Operand i as t. SDM 2A, 2.4: memory of 16 bytes must be aligned unless the encoding is VEX. */
Val simd_read(Lifter *l, const Insn *in, int i, Ty t);

/* Are operands 0 and 1 one register? Then xor, compare … have a constant result. */
bool simd_same(const Insn *in);

/* The 128-bit type in which operand i is at hand, so that a move or logic in floating-point code makes no casts; two
 * 64-bit integers if there is none, and for memory. */
Ty simd_at_hand(Lifter *l, const Insn *in, int i);

/* The element of 32 or 64 bits that fits what simd_at_hand says: F32 or I32, F64 or I64. Other sizes are integers. */
Ty simd_elem_at_hand(Lifter *l, const Insn *in, int i, u32 bits);

Val simd_widen(Lifter *l, Val v);  /* the lower half of a vector of twice the lanes; the upper half is poison */
Val simd_narrow(Lifter *l, Val v); /* the lower half of its lanes */

#endif
