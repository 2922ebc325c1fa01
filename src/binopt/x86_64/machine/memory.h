/* memory.h: reads code and constant memory while a function is rewritten. Nothing here faults. */
#ifndef BINOPT_MACHINE_MEMORY_H
#define BINOPT_MACHINE_MEMORY_H

#include "binopt/config/config.h"
#include "binopt/process/depends.h"
#include "binopt/process/maps.h"
#include "binopt/process/segment.h"
#include "binopt/x86_64/machine/machine_insn.h"

enum { MEMORY_SEGMENTS = 4, MEMORY_LINES = 16, MEMORY_LINE_BYTES = 256 };

typedef struct MemoryLine {
    u64 addr; /* a multiple of MEMORY_LINE_BYTES */
    u32 size; /* the number of bytes that could be read */
    u8 bytes[MEMORY_LINE_BYTES];
} MemoryLine;

typedef struct Memory {
    const BinoptCfg *cfg;
    Maps maps;
    bool has_maps;                          /* the maps are read when first needed, because that takes a while */
    LoadedSegment segment[MEMORY_SEGMENTS]; /* the segments that were asked for last */
    u32 next_segment;
    MemoryLine line[MEMORY_LINES];
    u32 line_count, next_line;
    Arena *arena;
    Depends depends; /* the memory that was read and has influenced the result */
    Map64 at;        /* pc -> index of the instruction */
    VEC(MachineInsn *) insns;
} Memory;

void memory_init(Memory *m, const BinoptCfg *cfg, Arena *arena);
void memory_free(Memory *m);

/* The instruction at an address, or NULL. */
const MachineInsn *memory_insn(Memory *m, u64 pc);

/* True if there is code at an address. */
bool memory_is_code(Memory *m, u64 pc);

/* Reads the bytes at an address if they are constant. *nested, before: the address came from nested constant memory;
 * after: the bytes do. */
bool memory_constant(Memory *m, u64 addr, u32 size, bool *nested, u8 *bytes);

/* True if this can be an address to which nested constant memory leads. */
bool memory_is_data(Memory *m, u64 addr);

#endif
