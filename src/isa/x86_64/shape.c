/* shape.c: see shape.h. */
#include "isa/x86_64/scan.h"
#include "isa/x86_64/shape_tables.h"

static u8 flags_of(const Scan *s) {
    if (s->space >= SHAPE_LEGACY_MAPS)
        return SHAPE_FLAGS_UNKNOWN;
    u32 reg = s->modrm_at ? s->bytes[s->modrm_at] >> 3 & 7 : 0;
    u8 opcode = s->bytes[s->opcode_at], bits = shape_flags[s->space][opcode] >> 2 * reg & 3;
    return bits & SHAPE_WRITES_FLAGS && !(shape_keeps[s->space][opcode] >> reg & 1) ? bits | SHAPE_KILLS_FLAGS : bits;
}

/* The value that ends the instruction, where the kind has one. */
static void set_immediate(Shape *shape, const u8 *bytes, u32 size) {
    if (shape->kind == SHAPE_RET && size == 2) {
        memcpy(&shape->immediate, bytes, 2);
    } else if (shape->kind >= SHAPE_JCC && shape->kind <= SHAPE_COUNTED) {
        i32 offset = (i8)bytes[0];
        if (size == 4)
            memcpy(&offset, bytes, 4);
        shape->target = offset;
    }
}

bool shape_of(const u8 *bytes, size_t size, Shape *shape) {
    Scan s;
    if (!scan_insn(bytes, size, &s))
        return false;
    *shape = (Shape){
        .length = s.length,
        .kind = s.gs ? SHAPE_OTHER : s.kind,
        .rex = s.rex,
        .opcode = s.bytes[s.opcode_at],
        .opcode_at = s.opcode_at,
        .modrm_at = s.modrm_at,
        .disp_at = s.disp_at,
        .address32 = s.address32,
        .vector = s.vector,
        .flags = flags_of(&s),
    };
    set_immediate(shape, s.bytes + s.immediate_at, s.length - s.immediate_at);
    return true;
}
