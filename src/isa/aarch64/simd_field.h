/* simd_field.h: what operands of AdvSIMD instructions say besides other operands: simd_field.c. */
#ifndef ISA_AARCH64_SIMD_FIELD_H
#define ISA_AARCH64_SIMD_FIELD_H

#include "isa/aarch64/field.h"

/* Operand.seg of a vector: it is one lane. */
enum { A64_ONE_LANE = 1 };

/* The registers of lists, which the instruction reads or writes. */
void a64_simd_registers(Insn *in);

#endif
