/* form.h: the forms of instructions: what has to be known of an instruction to compile it once for all others of its form.
 *
 * A form is a row together with what its meaning looks at besides: which operands are one register, or the one that is none,
 * which immediates are zero, immediates that have to be literal, rounding modes. What differs inside a form are places of
 * registers in the guest state, other immediates, and addresses. An ISA whose quick code is made of stencils has these. */
#ifndef ISA_FORM_H
#define ISA_FORM_H

#include "isa/insn.h"

/* As Isa.decode. */
LatheStatus form_decode(const u8 *bytes, size_t size, u64 pc, Insn *in);
/* Equal for instructions of one form. */
u64 form_key(const Insn *in);
/* Of an operand that is a register, or memory with a base register: where it is in the guest state. */
u32 form_place(const Operand *op);
/* The register that this is, or the base of the address; REG_NONE: none that has a place. */
Reg form_register(const Operand *op);

/* May code have this register in a host register, not in the guest state? */
bool form_may_be_held(Reg r);

/* Is the immediate of operand i part of the form? */
bool form_is_literal(const Insn *in, u32 i);

/* form_list.c, for who compiles them: instructions, at least one of each form, whose registers, immediates and sizes are all
 * different where the form lets them. */
extern const struct Isa *const form_isa;
typedef void FormVisit(void *user, const Insn *in);
void form_each(FormVisit *visit, void *user);

#endif
