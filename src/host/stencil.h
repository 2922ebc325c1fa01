/* stencil.h: how stencils have guest registers in the host's, and where their instructions name these.
 *
 * Some host registers hold a guest register each, always the same one, while code of stencils runs: they are *held*. A stencil is compiled with
 * its operands in the first few of them; when it is copied, the fields of its instructions that name these get the numbers of the registers that
 * hold the operands really. */
#ifndef HOST_STENCIL_H
#define HOST_STENCIL_H

#include "base/base.h"

/* Most guest registers of an instruction that can be in host registers. */
enum { STENCIL_OPERANDS = 3 };

/* Where an instruction names a register: the lower three bits of its number are at bit `shift` of byte `at`, the fourth at bit high_shift of byte
 * high_at. They are changed by exclusive or with the difference of two numbers, which also does for fields that are stored inverted. */
typedef struct HostField {
    u8 at, shift, high_at, high_shift;
    u8 operand;  /* of HostStencil.operand */
    u16 allowed; /* a bit for each held register that can be named here; with others the encoding means something else */
} HostField;

typedef struct HostFields {
    VEC(HostField) list;
    /* False: the code names a held register that is no operand, or changes an operand before it accesses memory that may fault. */
    bool renamable;
    /* False: it changes a held register that is no operand before it accesses memory that may fault. */
    bool exact;
} HostFields;

typedef struct HostStencil {
    /* LLVM's number of a convention that passes the state, then so many held registers, and treats all others as the callee's; and of one in which a
     * helper changes no held register. */
    unsigned cc, helper_cc;
    u32 passed;
    /* Held registers that the convention does not pass, as constraints of empty assembly: what takes each (ended by NULL), what gives all of them back, and
     * what does so with a guest address in the register where computed jumps have it. */
    const char *const *taken;
    const char *give, *give_address;
    /* Assembly: register $1 into $0; and what orders all accesses, faster than LLVM's instruction for it. */
    const char *copy, *fence, *fence_clobbers;
    /* All held registers by their numbers; the numbers of those that operands are compiled to be in, and which of the passed ones these are. */
    u16 held;
    u8 operand[STENCIL_OPERANDS], passed_as[STENCIL_OPERANDS];
    /* What there is to know of code of which the first so many of these are operands. */
    void (*fields)(const u8 *code, u32 size, u32 operands, HostFields *f);
} HostStencil;

#endif
