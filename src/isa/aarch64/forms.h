/* forms.h: what a host may have for vectors of this guest (Host.aarch64). */
#ifndef ISA_AARCH64_FORMS_H
#define ISA_AARCH64_FORMS_H

#include "isa/isa.h"

typedef struct A64Forms {
    /* Bytes of a table of 16 by index: the low four bits count, and where the highest one is set the result is zero; the index has no other bits. */
    Val (*look_up)(Lifter *l, Val table, Val index);
} A64Forms;

static inline const A64Forms *a64_forms(const Lifter *l) {
    return l->host->aarch64;
}

#endif
