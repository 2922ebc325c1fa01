/* memory.c: see memory.h. */
#include "binopt/x86_64/machine/memory.h"

void memory_init(Memory *m, const BinoptCfg *cfg, Arena *arena) {
    m->cfg = cfg;
    m->arena = arena;
    m->has_maps = false;
    m->line_count = m->next_line = m->next_segment = 0;
    memset(m->segment, 0, sizeof(m->segment));
    m->at = (Map64){0};
    memset(&m->insns, 0, sizeof(m->insns));
    m->depends = (Depends){0};
}

void memory_free(Memory *m) {
    if (m->has_maps)
        maps_free(&m->maps);
    map64_free(&m->at);
    VEC_FREE(&m->insns);
    depends_free(&m->depends);
}

static const Maps *maps_of(Memory *m) {
    if (!m->has_maps)
        maps_init(&m->maps);
    m->has_maps = true;
    return &m->maps;
}

static SegmentKind kind_of(Memory *m, u64 addr, u64 size) {
    for (u32 i = 0; i < MEMORY_SEGMENTS; i++)
        if (addr >= m->segment[i].start && addr + size <= m->segment[i].end)
            return m->segment[i].kind;
    LoadedSegment s = segment_find(addr);
    if (s.kind == SEGMENT_NONE || addr + size > s.end)
        return SEGMENT_NONE;
    m->segment[m->next_segment] = s;
    m->next_segment = (m->next_segment + 1) % MEMORY_SEGMENTS;
    return s.kind;
}

/* True for read-only memory of this process. */
static bool is_constant(Memory *m, u64 addr, u64 size) {
    switch (kind_of(m, addr, size)) {
    case SEGMENT_CODE:
    case SEGMENT_CONSTANT:
        return true;
    case SEGMENT_DATA:
        return false;
    case SEGMENT_NONE:
        break;
    }
    return maps_constant(maps_of(m), addr, size);
}

/* ------------------------------------------------------------------------------------------------------------- reading */

static const MemoryLine *line_at(Memory *m, u64 addr) {
    for (u32 i = 0; i < m->line_count; i++)
        if (m->line[i].addr == addr)
            return &m->line[i];
    MemoryLine *line = &m->line[m->next_line];
    m->next_line = (m->next_line + 1) % MEMORY_LINES;
    if (m->line_count < MEMORY_LINES)
        m->line_count++;
    line->addr = addr;
    line->size = (u32)maps_read(addr, line->bytes, MEMORY_LINE_BYTES);
    return line;
}

static u32 read_bytes(Memory *m, u64 addr, u32 size, u8 *bytes) {
    u32 done = 0;
    while (done < size) {
        u64 at = (addr + done) & ~(u64)(MEMORY_LINE_BYTES - 1);
        const MemoryLine *line = line_at(m, at);
        u32 off = (u32)(addr + done - at);
        if (off >= line->size)
            break;
        u32 part = line->size - off < size - done ? line->size - off : size - done;
        memcpy(bytes + done, line->bytes + off, part);
        done += part;
    }
    return done;
}

const MachineInsn *memory_insn(Memory *m, u64 pc) {
    enum { LONGEST = 15 };
    u32 number;
    if (map64_get(&m->at, pc, &number))
        return m->insns.at[number];
    u8 bytes[LONGEST];
    u32 size = read_bytes(m, pc, LONGEST, bytes);
    MachineInsn *in = ARENA_NEW(m->arena, MachineInsn);
    if (!machine_decode(pc, bytes, size, in))
        in = NULL;
    else
        depends_add(&m->depends, pc, bytes, in->length);
    map64_set(&m->at, pc, (u32)m->insns.len);
    VEC_PUSH(&m->insns, in);
    return in;
}

bool memory_is_code(Memory *m, u64 pc) {
    SegmentKind kind = kind_of(m, pc, 1);
    if (kind != SEGMENT_NONE)
        return kind == SEGMENT_CODE;
    const Mapping *at = maps_find(maps_of(m), pc);
    return at && at->exec;
}

bool memory_is_data(Memory *m, u64 addr) {
    SegmentKind kind = kind_of(m, addr, 1);
    if (kind != SEGMENT_NONE)
        return kind != SEGMENT_CODE;
    const Mapping *at = maps_find(maps_of(m), addr);
    return at && at->read && !at->exec;
}

bool memory_constant(Memory *m, u64 addr, u32 size, bool *nested, u8 *bytes) {
    bool by_mapping = false;
    switch (config_memory(m->cfg, addr, size)) {
    case BINOPT_MEM_DYNAMIC:
        return false;
    case BINOPT_MEM_CONST:
        *nested = false;
        break;
    case BINOPT_MEM_NESTED_CONST:
        *nested = true;
        break;
    case BINOPT_MEM_DEFAULT:
        by_mapping = !*nested;
        if (by_mapping && !is_constant(m, addr, size))
            return false;
        break;
    }
    if (read_bytes(m, addr, size, bytes) < size)
        return false;
    if (by_mapping)
        depends_add_read_only(&m->depends, addr, bytes, size);
    else
        depends_add(&m->depends, addr, bytes, size);
    return true;
}
