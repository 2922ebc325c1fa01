/* convention.h: how guest registers travel between lifted functions.
 *
 * Plainly, a lifted function is void(ptr cpu) and all registers are in the guest state whenever one begins or ends. In the
 * register convention it takes the most used guest registers as arguments, returns them as results in the same places, and
 * the host's calling convention keeps those places in host registers. One place carries the pointer to the guest state in
 * and the next pc out.
 */
#ifndef LIFT_CONVENTION_H
#define LIFT_CONVENTION_H

#include "isa/isa.h"

enum { CONVENTION_SLOTS = 32 };

typedef struct Convention {
    bool in_registers;
    unsigned cc; /* LLVM's number */
    u32 count;   /* slots of guest registers, then one for cpu and pc */
    struct {
        Reg reg;
        Ty ty;
    } slot[CONVENTION_SLOTS];
    RegSet slotted;      /* the registers that have a slot */
    RegSet unseen;       /* left out of the function's slots: nobody reads or writes them here */
    i8 slot_of[REG_MAX]; /* -1: in the guest state */
    u32 vectors;         /* how many of the slots are vectors: the last ones */
} Convention;

void convention_init(Convention *c, const Isa *isa, const Host *host, LatheConvention kind);
/* Leave out the last vectors, as many as are not `used`. */
void convention_narrow(Convention *c, const RegSet *used);
LLVMTypeRef convention_type(Lifter *l, const Convention *c);
/* The attributes of a function and of a call that follow the convention. */
void convention_mark_function(Lifter *l, const Convention *c, Val fn);
void convention_mark_call(Lifter *l, const Convention *c, Val call);

#endif
