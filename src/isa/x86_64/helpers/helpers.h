/* helpers.h: the tables of C functions that lifted x86-64 code calls by name, by group. */
#ifndef ISA_X86_64_HELPERS_H
#define ISA_X86_64_HELPERS_H

#include "base/base.h"
#include "isa/helper.h"
#include "lathe/types.h"

extern const Helper x86_system_helpers[]; /* division, questions to the host's CPU */
extern const Helper x86_x87_helpers[];    /* one x87 instruction each */
extern const Helper x86_state_helpers[];  /* environments, fxsave, xsave */
extern const Helper x86_plain_helpers[];  /* what a host of another kind has no instruction for */

#endif
