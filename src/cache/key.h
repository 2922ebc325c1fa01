/* key.h: what identifies code in the cache: the configuration that it was made with, and the names of files. */
#ifndef CACHE_KEY_H
#define CACHE_KEY_H

#include "base/base.h"

/* The order of memory accesses that the guest's threads rely on. */
typedef enum MemoryOrder {
    MEMORY_ALONE,  /* there is only one thread */
    MEMORY_WEAK,   /* only the order that dependencies, fences and atomic operations give */
    MEMORY_STRONG, /* the program's order, except that a load may be done before earlier stores */
} MemoryOrder;

/* Everything that determines the generated code. It is part of every cache key, so it has no padding and no pointers,
 * and unused fields are zero. */
typedef struct CodeConfig {
    u32 version;     /* version of the interface between the code and the client: CODE_VERSION */
    u32 arch;        /* LatheArch */
    u32 opt;         /* LatheOpt */
    u32 strict_fp;   /* bool */
    u32 with_quick;  /* bool: it runs beside quick code, which executes what depends on host registers */
    u32 polls;       /* bool: loops look for noted signals */
    u32 low_vectors; /* bool: bits 128 and up of the host's vector registers belong to the guest and are not changed */
    u32 memory;      /* MemoryOrder */
    u32 exact;       /* bool: a memory access that faults leaves the code with the complete guest state */
    u32 host;        /* LatheHost: the kind of machine that runs it; LATHE_HOST_OWN: the one that makes it */
    u64 tool;        /* identity of the tool that watches the guest; 0: none */
    u64 plugin;      /* identity of the plugin that changes lifted code (run/protocol/plugin_id.h); 0: none */
    u8 reserved[16];
} CodeConfig;

_Static_assert(sizeof(CodeConfig) % sizeof(u64) == 0, "no padding behind it in other structures");

enum { CODE_VERSION = 8 };

/* A 128-bit name of guest content or of a cache file. */
typedef struct Key {
    u64 word[2];
} Key;

/* The guest function that code is made from: at pc, in the module at [base, end), whose pack is `pack`. */
typedef struct PackFunction {
    u64 pc, base, end;
    bool position_independent; /* the module may be at another address in another run */
    Key pack;
} PackFunction;

#endif
