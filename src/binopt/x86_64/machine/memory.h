/* memory.h: what may be read while a function is rewritten: code, and constant memory. Nothing here faults. */
#ifndef BINOPT_MACHINE_MEMORY_H
#define BINOPT_MACHINE_MEMORY_H

#include "binopt/config/config.h"
#include "binopt/process/depends.h"
#include "binopt/process/maps.h"
#include "binopt/process/segment.h"
#include "binopt/x86_64/machine/insn.h"

enum { MEMORY_SEGMENTS = 4, MEMORY_LINES = 16, MEMORY_LINE_BYTES = 256 };

typedef struct MemoryLine {
    u64 addr; /* a multiple of MEMORY_LINE_BYTES */
    u32 size; /* what could be read of it */
    u8 bytes[MEMORY_LINE_BYTES];
} MemoryLine;

typedef struct Memory {
    const BinoptCfg *cfg;
    Maps maps;
    bool has_maps;                    /* they are read when first needed: that takes a while */
    Segment segment[MEMORY_SEGMENTS]; /* the last ones that were asked for */
    u32 next_segment;
    MemoryLine line[MEMORY_LINES];
    u32 line_count, next_line;
    Arena *arena;
    Depends depends; /* what was read, and mattered */
    Map64 at;        /* pc -> number of the instruction */
    VEC(MachineInsn *) insns;
} Memory;

void memory_init(Memory *m, const BinoptCfg *cfg, Arena *arena);
void memory_free(Memory *m);

/* The instruction at an address; NULL if there is none. */
const MachineInsn *memory_insn(Memory *m, u64 pc);

/* Is there code at an address? */
bool memory_is_code(Memory *m, u64 pc);

/* The bytes there, if they are constant. *nested: the address came from nested constant memory; after: so does what was read. */
bool memory_constant(Memory *m, u64 addr, u32 size, bool *nested, u8 *bytes);

/* Can it be an address that nested constant memory leads to? */
bool memory_is_data(Memory *m, u64 addr);

#endif
