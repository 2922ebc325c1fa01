/* families.h: the meanings of instruction families, by group. */
#ifndef ISA_X86_64_FAMILIES_H
#define ISA_X86_64_FAMILIES_H

#include "isa/x86_64/families_base.h"
#include "isa/x86_64/families_fp.h"
#include "isa/x86_64/families_simd.h"
#include "isa/x86_64/families_x87.h"

#endif
