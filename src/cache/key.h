/* key.h: what code that is kept is known by: the configuration it was made with, and the names of files. */
#ifndef CACHE_KEY_H
#define CACHE_KEY_H

#include "base/base.h"

/* The order of memory accesses that the guest's threads count on. */
typedef enum MemoryOrder {
    MEMORY_ALONE,  /* there are no others */
    MEMORY_WEAK,   /* none but what dependencies, fences and atomic operations give */
    MEMORY_STRONG, /* that of the program, but that loads may be earlier than stores before them */
} MemoryOrder;

/* What decides about the code that is made. Part of every cache key, so: no padding, no pointers, zero where unused. */
typedef struct CodeConfig {
    u32 version;     /* of the code's interface to the client: CODE_VERSION */
    u32 arch;        /* LatheArch */
    u32 opt;         /* LatheOpt */
    u32 strict_fp;   /* bool */
    u32 with_quick;  /* bool: beside quick code, which does what only a host register knows */
    u32 polls;       /* bool: loops look for signals */
    u32 low_vectors; /* bool: bits from 128 up of the host's vector registers are the guest's, and left alone */
    u32 memory;      /* MemoryOrder */
    u32 exact;       /* bool: accesses to memory that fault leave with the state in whole */
    u32 unused;
    u8 reserved[16];
} CodeConfig;

_Static_assert(sizeof(CodeConfig) % sizeof(u64) == 0, "no padding behind it in other structures");

enum { CODE_VERSION = 7 };

/* A 128-bit name of guest content or of a cache file. */
typedef struct Key {
    u64 word[2];
} Key;

/* The guest function that code is made of: at pc, in the module at [base, end), whose pack is `pack`. */
typedef struct PackFunction {
    u64 pc, base, end;
    bool position_independent; /* the module may be elsewhere in another run */
    Key pack;
} PackFunction;

#endif
