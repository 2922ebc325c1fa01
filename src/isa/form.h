/* form.h: the forms of instructions: what has to be known of an instruction to compile it once for all others of its form.
 *
 * A form is a row together with what its meaning looks at besides: which operands are one register, or the one that is none,
 * which immediates are zero, immediates that have to be literal, rounding modes. What differs inside a form are places of
 * registers in the guest state, other immediates, and addresses. An ISA whose quick code is made of stencils has these. */
#ifndef ISA_FORM_H
#define ISA_FORM_H

#include "isa/insn.h"

struct Isa;
struct Lifter;

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

/* What is known of the immediate of operand i besides whether it is zero. */
typedef enum FormImmediate {
    FORM_LITERAL, /* all: it is part of the form */
    FORM_SIGNED,  /* it has 32 bits with a sign, or only 32 bits of it are wanted */
    FORM_COUNT,   /* it is less than 64 */
    FORM_WIDE,    /* it may be anything */
} FormImmediate;
FormImmediate form_immediate(const Insn *in, u32 i);

/* Is what this instruction sets that register to never read? That is a part of the form, too. */
bool form_is_dead(const Insn *in, Reg r);
/* Are there forms that leave out flags that nobody reads? Has this instruction one? From now on it is of that form. */
extern const bool form_leaves_flags;
bool form_may_leave_flags(const Insn *in);
void form_leave_flags(Insn *in);
/* Is the immediate of operand i, or its displacement where it has no base, the address itself, not a distance from the instruction? */
bool form_is_absolute(const Insn *in, u32 i);

/* Is it so rare that there is no need to have it with operands in host registers? */
bool form_is_rare(const Insn *in);

/* form_list.c, for who compiles them: instructions, at least one of each form, whose registers, immediates and sizes are all
 * different where the form lets them. */
extern const struct Isa *const form_isa;
extern const bool form_strict_fp; /* floating point as LatheConfig.strict_fp has it */
extern const bool
    form_is_complete; /* the build stops if a form has no stencil, at least with its operands in the state */
void form_lift(struct Lifter *l, const Insn *in);
typedef void FormVisit(void *user, const Insn *in);
void form_each(FormVisit *visit, void *user);

#endif
