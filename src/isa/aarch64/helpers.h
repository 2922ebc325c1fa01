/* helpers.h: the tables of C functions that lifted aarch64 code calls by name, by group. */
#ifndef ISA_AARCH64_HELPERS_H
#define ISA_AARCH64_HELPERS_H

#include "base/base.h"
#include "isa/helper.h"
#include "lathe/types.h"

extern const Helper a64_bits_helpers[];
extern const Helper a64_float_helpers[];
extern const Helper a64_fma_helpers[];
extern const Helper a64_crypto_helpers[];
extern const Helper a64_simd_helpers[];
/* Of the host: for stencils, and what LLVM calls on a host without an instruction for it. */
extern const Helper a64_stencil_helpers[];

#endif
