/* forms.h: what a host may have for vectors and floating point of this guest (Host.aarch64).
 *
 * With the latter, the modes of fpcr are the host's, too, while code runs that is not lifted with strict_fp, and flags of fpsr are the host's besides those in the state. */
#ifndef ISA_AARCH64_FORMS_H
#define ISA_AARCH64_FORMS_H

#include "isa/isa.h"

typedef struct A64Forms {
    /* Bytes of a table of 16 by index: the low four bits count, and where the highest one is set the result is zero; the index has no other bits. */
    Val (*look_up)(Lifter *l, Val table, Val index);
    /* The host's flags in the order of fpsr, as I32; none from now on; modes by fpcr. All NULL: the host has no such thing. */
    Val (*flags)(Lifter *l);
    void (*clear_flags)(Lifter *l);
    void (*set_mode)(Lifter *l, Val fpcr);
} A64Forms;

static inline const A64Forms *a64_forms(const Lifter *l) {
    return l->host->aarch64;
}

#endif
