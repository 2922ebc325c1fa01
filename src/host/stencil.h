/* stencil.h: how stencils have guest registers in the host's, and where their instructions name these.
 *
 * Some host registers hold a guest register each, always the same one, while code of stencils runs: they are *held*. A stencil is compiled with
 * its operands in the first few of them; when it is copied, the fields of its instructions that name these get the numbers of the registers that
 * hold the operands really. */
#ifndef HOST_STENCIL_H
#define HOST_STENCIL_H

#include "base/base.h"

enum { STENCIL_OPERANDS = 3 }; /* most guest registers of an instruction that can be in host registers */

/* Where an instruction names a register: the lower three bits of its number are at bit `shift` of byte `at`, the fourth at bit high_shift of byte
 * high_at. They are changed by exclusive or with the difference of two numbers, which also does for fields that are stored inverted. */
typedef struct HostField {
    u8 at, shift, high_at, high_shift;
    u8 operand; /* of HostStencil.operand */
    u16 allowed; /* a bit for each register that can be named here: an encoding may mean something else with some numbers */
} HostField;

typedef struct HostFields {
    VEC(HostField) list;
    bool
        renamable; /* false: the code names another held register, or changes an operand before it accesses memory that may fault */
    bool exact; /* no held register is changed before an access to memory that may fault, except the operands' */
} HostFields;

typedef struct HostStencil {
    unsigned
        cc; /* LLVM's number of a convention that passes the state, then these registers, and treats all others as the callee's */
    u32 passed;
    unsigned helper_cc; /* and of one in which a helper changes no held register */
    /* Further held registers that the convention does not pass: constraints of empty assembly that take each, that give all of them back, and
     * that give them back with a guest address in the register that computed jumps have it in. */
    const char *const *taken; /* ended by NULL */
    const char *give, *give_address;
    const char *fence,
        *fence_clobbers;          /* assembly: what orders all accesses and is faster than LLVM's instruction for it */
    const char *copy;             /* assembly: register $1 into $0 */
    u16 held;                     /* all of them, by their numbers */
    u8 operand[STENCIL_OPERANDS]; /* numbers of the registers that operands are compiled to be in */
    u8 passed_as[STENCIL_OPERANDS];                                        /* which of those that are passed they are */
    void (*fields)(const u8 *code, u32 size, u32 operands, HostFields *f); /* the first so many of them are operands */
} HostStencil;

#endif
