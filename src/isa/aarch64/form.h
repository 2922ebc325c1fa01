/* form.h: forms of aarch64 instructions, for who lists them. */
#ifndef ISA_AARCH64_FORM_H
#define ISA_AARCH64_FORM_H

#include "isa/aarch64/field.h"

/* The bits of words of this row that are not part of the form. */
u32 a64_form_open_bits(u32 row);
/* Those that are, besides the ones that all words of the row have in common. */
u32 a64_form_meant_bits(u32 row);
/* And of the former, those that are numbers of registers. */
u32 a64_form_register_bits(u32 row);
/* Is it one that a branch behind it is joined with? */
bool a64_form_compares(const Insn *in);
/* simd_field.c: those of a field of simd_fields.def that are a register's number. */
u32 a64_simd_register_bits(A64Field field);

static inline bool a64_is_simd_field(A64Field field) {
    return field > FBITS;
}

#endif
