/* hwcap.h: what Linux tells programs that this CPU has, as the words of the auxiliary vector: features.def. */
#ifndef ISA_AARCH64_HWCAP_H
#define ISA_AARCH64_HWCAP_H

#include "base/base.h"

enum {
#define FEATURE(word, bit, ...) | ((word) == 1 ? (u64)1 << (bit) : 0)
    A64_HWCAP = 0
#include "isa/aarch64/features.def"
    ,
#undef FEATURE
#define FEATURE(word, bit, ...) | ((word) == 2 ? (u64)1 << (bit) : 0)
    A64_HWCAP2 = 0
#include "isa/aarch64/features.def"
#undef FEATURE
};

#endif
