/* forms.h: what a host may have for floating point of this guest.
 *
 * With these forms (Host.riscv64) the guest's rounding mode is the host's while lifted code runs, as far as the host has it, and
 * the host's exception flags are the guest's, besides those in the state. Without them mode and flags are in the state alone, and
 * what must be exact is done in integers by a C function. */
#ifndef ISA_RISCV64_FORMS_H
#define ISA_RISCV64_FORMS_H

#include "isa/isa.h"

typedef struct RvForms {
    /* The host's flags in the order of fflags, as I8: in order with constrained operations, or not in order with plain ones, without a
     * place in the guest state. */
    Val (*flags)(Lifter *l);
    Val (*flags_seen)(Lifter *l);
    void (*clear_flags)(Lifter *l);
    void (*set_rounding)(Lifter *l, Val frm); /* what the host does not have stays as it is */
    /* To a signed integer, towards zero or by the host's mode: the least integer where there is none, and the flags that are wanted. */
    Val (*to_int)(Lifter *l, Val v, Ty to, bool truncates);
} RvForms;

static inline const RvForms *rv_forms(const Lifter *l) {
    return l->host->riscv64;
}

#endif
