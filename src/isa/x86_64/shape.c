/* shape.c: instruction lengths in 64-bit mode, by one byte of facts per opcode (shape_tables.h).
 *
 * The fact byte of an opcode says whether a ModRM byte follows, how large the immediate is and of which ShapeKind the
 * instruction is. What depends on ModRM or on a mandatory prefix (the groups) is looked up in a second table when ModRM has
 * been read. Encodings that no CPU accepts may pass as plain: copied, they fault as they would have. What is refused
 * must be known wrong, or of no known length (REX2, VEX and EVEX maps that are still empty), or extinct (3DNow!).
 *
 * Intel's reading is followed where the vendors differ: near branches ignore the prefix 66 (AMD: 16-bit offsets), ud0
 * has a ModRM byte. */
#include "isa/x86_64/shape_tables.h"

enum {
    WINDOW = 24,                   /* bytes that may be looked at: 14 prefixes, EVEX, opcode, ModRM and SIB are 21 */
    MAP_OTHER = SHAPE_LEGACY_MAPS, /* of an opcode: none that has groups */
};

/* The instruction as far as it has been read. */
typedef struct Scan {
    const u8 *bytes;
    u8 at;       /* the next byte */
    u8 rex, rep; /* rep: the last of F2 and F3, which counts */
    bool operand16, address32, lock, gs, vector;
    u8 map; /* of the opcode: one of shape_map, or MAP_OTHER, where there are no groups */
    u8 opcode_at, modrm_at, disp_at;
} Scan;

/* SDM 2A, 2.2.1: a REX prefix that is not directly before the opcode is ignored. */
static void skip_prefixes(Scan *s) {
    for (; s->at < SHAPE_BYTES; s->at++) {
        u8 byte = s->bytes[s->at];
        if (shape_map[SHAPE_MAP_ONE][byte] != PREFIX)
            return;
        if ((byte & 0xf0) == 0x40) {
            s->rex = byte;
            continue;
        }
        s->rex = 0;
        switch (byte) {
        case 0x65:
            s->gs = true;
            break;
        case 0x66:
            s->operand16 = true;
            break;
        case 0x67:
            s->address32 = true;
            break;
        case 0xf0:
            s->lock = true;
            break;
        case 0xf2:
        case 0xf3:
            s->rep = byte;
            break;
        }
    }
}

/* BMI: andn, blsr and others, bzhi, pdep, pext, mulx, bextr, sarx, shlx, shrx; rorx. */
static bool is_general(u8 map, u8 opcode) {
    return (map == 2 && opcode >= 0xf2 && opcode <= 0xf7) || (map == 3 && opcode == 0xf0);
}

/* The opcode after `prefix_bytes` of VEX, EVEX or XOP. Their maps 1 to 3 are 0F, 0F38 and 0F3A, of which all
 * opcodes of the last have an immediate; 5 and 6 are EVEX's half precision; 8 to 10 are XOP's. */
static u8 vector_opcode(Scan *s, u8 map, u8 prefix_bytes) {
    if (s->rex || s->rep || s->operand16 || s->lock)
        return BAD;
    s->map = MAP_OTHER;
    s->at = (u8)(s->at + prefix_bytes);
    u8 opcode = s->bytes[s->at];
    s->vector = !is_general(map, opcode);
    switch (map) {
    case 1:
        return shape_map[SHAPE_MAP_VEX][opcode];
    case 2:
    case 5:
    case 6:
    case 9:
        return M;
    case 3:
    case 8:
        return M | I8;
    case 10:
        return M | I32;
    }
    return BAD;
}

/* The map of EVEX, whose fixed bits are 0 in its first byte and 1 in its second; 0: wrong. Map 4, of APX, has other
 * rules. */
static u8 evex_map(const u8 *payload) {
    u8 map = payload[0] & 7;
    return payload[0] & 8 || !(payload[1] & 4) ? 0 : map;
}

static u8 legacy_0f_opcode(Scan *s) {
    u8 opcode = s->bytes[++s->at];
    s->map = SHAPE_MAP_0F;
    if (shape_map[SHAPE_MAP_0F][opcode] != ESCAPE)
        return shape_map[SHAPE_MAP_0F][opcode];
    s->map = MAP_OTHER;
    s->at++;
    return opcode == 0x38 ? M : M | I8;
}

/* Goes to the last opcode byte; the facts of it. AMD 3, 1.2.6: 8F begins XOP where the map's number is at least 8; else
 * it is pop, whose ModRM.reg must be 0. */
static u8 find_opcode(Scan *s) {
    const u8 *opcode = s->bytes + s->at;
    if (shape_map[SHAPE_MAP_ONE][*opcode] != ESCAPE)
        return shape_map[SHAPE_MAP_ONE][*opcode];
    u8 map = opcode[1] & 0x1f;
    switch (*opcode) {
    case 0x0f:
        return legacy_0f_opcode(s);
    case 0x62:
        return vector_opcode(s, evex_map(opcode + 1), 4);
    case 0x8f:
        return map >= 8 ? vector_opcode(s, map, 3) : opcode[1] & 0x38 ? BAD : M;
    case 0xc4:
        return vector_opcode(s, map <= 3 ? map : 0, 3);
    case 0xc5:
        return vector_opcode(s, 1, 2);
    }
    return BAD;
}

/* ModRM, SIB and displacement. SDM 2A, 2.2.1.6: mod 0, rm 5 is relative to rip, whatever REX.B; a SIB base of 5 with
 * mod 0 is a disp32 without base. */
static void skip_operand(Scan *s) {
    static const u8 after_modrm[3][8] = {{0, 0, 0, 0, 1, 4, 0, 0}, {1, 1, 1, 1, 2, 1, 1, 1}, {4, 4, 4, 4, 5, 4, 4, 4}};
    const u8 *modrm = s->bytes + s->at;
    s->modrm_at = s->at++;
    if (*modrm >= 0xc0)
        return;
    u8 form = *modrm & 0xc7;
    s->disp_at = form == 5 ? s->at : 0;
    s->at = (u8)(s->at + after_modrm[form >> 6][form & 7] + (form == 4 && (modrm[1] & 7) == 5 ? 4 : 0));
}

/* Facts of a group's opcode, ModRM and prefixes known. */
static u8 settle_group(const Scan *s, u8 facts) {
    u32 prefix = s->rep ? s->rep - 0xf0u : s->operand16;
    u8 row = shape_group_row[s->map][facts >> 4 & 7][prefix];
    return shape_row[row][shape_form(s->bytes[s->modrm_at])];
}

/* By operand size (4, 2, 8 bytes), but MOFFS by address size. */
static u8 immediate_size(const Scan *s, u8 facts) {
    static const u8 sizes[8][3] = {
        [I8 >> 4] = {1, 1, 1}, [I16 >> 4] = {2, 2, 2},   [I32 >> 4] = {4, 4, 4},   [IZ >> 4] = {4, 2, 4},
        [IV >> 4] = {4, 2, 8}, [ENTER >> 4] = {3, 3, 3}, [MOFFS >> 4] = {8, 8, 8},
    };
    u8 class = facts & IMMEDIATE;
    if (class == MOFFS && s->address32)
        return 4;
    return sizes[class >> 4][s->rex & 8 ? 2 : s->operand16];
}

static u8 flags_of(const Scan *s) {
    if (s->map == MAP_OTHER)
        return SHAPE_FLAGS_UNKNOWN;
    u32 reg = s->modrm_at ? s->bytes[s->modrm_at] >> 3 & 7 : 0;
    u8 opcode = s->bytes[s->opcode_at], bits = shape_flags[s->map][opcode] >> 2 * reg & 3;
    return bits & SHAPE_WRITES_FLAGS && !(shape_keeps[s->map][opcode] >> reg & 1) ? bits | SHAPE_KILLS_FLAGS : bits;
}

/* The value that ends the instruction, where the kind has one. */
static void set_immediate(Shape *shape, const u8 *bytes, u8 size) {
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
    u8 window[WINDOW] = {0};
    Scan s = {.bytes = bytes};
    if (size < WINDOW)
        s.bytes = memcpy(window, bytes, size);
    skip_prefixes(&s);
    if (s.at == SHAPE_BYTES)
        return false;
    u8 facts = find_opcode(&s);
    s.opcode_at = s.at++;
    if (facts & M)
        skip_operand(&s);
    u8 opcode = s.bytes[s.opcode_at];
    if ((facts & KIND) == GROUP)
        facts = settle_group(&s, facts);
    u8 kind = facts & KIND, immediate = immediate_size(&s, facts), length = (u8)(s.at + immediate);
    if (kind == BAD || length > SHAPE_BYTES || length > size)
        return false;
    *shape = (Shape){
        .length = length,
        .kind = s.gs ? SHAPE_OTHER : kind,
        .rex = s.rex,
        .opcode = opcode,
        .opcode_at = s.opcode_at,
        .modrm_at = s.modrm_at,
        .disp_at = s.disp_at,
        .address32 = s.address32,
        .vector = s.vector,
        .flags = flags_of(&s),
    };
    set_immediate(shape, s.bytes + s.at, immediate);
    return true;
}
