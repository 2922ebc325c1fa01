/* census.h: what instructions a file is made of, each address counted once, and which of them have a row. */
#ifndef BENCH_CENSUS_H
#define BENCH_CENSUS_H

#include <Zydis/Zydis.h>

#include "elf/elf.h"

/* AVX and later: everything encoded with VEX, EVEX or XOP, except the general-register instructions of BMI. */
typedef enum Era { ERA_BELOW_AVX, ERA_AVX, ERA_COUNT } Era;

/* An indirect jump: its table was recovered; it looks like a table's but was not; neither. */
typedef enum JumpKind { JUMP_TABLE, JUMP_MISSED, JUMP_OTHER, JUMP_KINDS } JumpKind;

typedef struct Census {
    Map64 pages; /* 64 addresses -> index of their bits */
    VEC(u64) bits;
    u64 insns[ERA_COUNT], lifted[ERA_COUNT];
    u64 undecodable;
    u64 missing[ZYDIS_MNEMONIC_MAX_VALUE + 1];
    u64 missing_at[ZYDIS_MNEMONIC_MAX_VALUE + 1]; /* one address of each */
    Era missing_era[ZYDIS_MNEMONIC_MAX_VALUE + 1];
    Map64 jump_kind; /* of each indirect jump */
    u64 jumps[JUMP_KINDS];
} Census;

/* Count the instructions of a decoded function. */
void census_add(Census *c, ElfFile *elf, LatheFunc *fn);
void census_merge(Census *into, const Census *c); /* all counts; not the addresses seen */
void census_free(Census *c);

/* The missing mnemonics, most frequent first; 0 after the last. */
typedef struct CensusList {
    ZydisMnemonic at[ZYDIS_MNEMONIC_MAX_VALUE + 1];
    size_t len;
} CensusList;
void census_missing(const Census *c, CensusList *list);

#endif
