/* helpers.h: the tables of C functions that lifted riscv64 code calls by name, by group. */
#ifndef ISA_RISCV64_HELPERS_H
#define ISA_RISCV64_HELPERS_H

#include "base/base.h"
#include "isa/helper.h"
#include "lathe/types.h"

extern const Helper rv_bits_helpers[];
extern const Helper rv_float_helpers[];

#endif
