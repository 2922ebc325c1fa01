/* scan.c: see scan.h. It goes by one byte of facts per opcode (shape_tables.h).
 *
 * The fact byte of an opcode says whether a ModRM byte follows, how large the immediate is and of which ShapeKind the
 * instruction is. What depends on ModRM or on a mandatory prefix (the groups) is looked up in a second table when ModRM has
 * been read. Encodings that no CPU accepts may pass as plain: copied, they fault as they would have. What is refused
 * must be known wrong, or of no known length (REX2, VEX and EVEX maps that are still empty), or extinct (3DNow!).
 *
 * Intel's reading is followed where the vendors differ: near branches ignore the prefix 66 (AMD: 16-bit offsets), ud0
 * has a ModRM byte. */
#include "isa/x86_64/scan.h"

#include "isa/x86_64/shape_tables.h"

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
            s->gs = true; /* fall through */
        case 0x64:
            s->segment = byte;
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
static u8 vector_opcode(Scan *s, u8 map, u8 prefix_bytes, u8 space) {
    if (s->rex || s->rep || s->operand16 || s->lock)
        return BAD;
    s->space = (u8)(space + map - 1);
    s->payload_at = (u8)(s->at + 1);
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
    s->space = SPACE_0F;
    if (shape_map[SHAPE_MAP_0F][opcode] != ESCAPE)
        return shape_map[SHAPE_MAP_0F][opcode];
    s->space = opcode == 0x38 ? SPACE_0F38 : SPACE_0F3A;
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
        return vector_opcode(s, evex_map(opcode + 1), 4, SPACE_EVEX);
    case 0x8f:
        return map >= 8 ? vector_opcode(s, map, 3, SPACE_XOP - 7) : opcode[1] & 0x38 ? BAD : M;
    case 0xc4:
        return vector_opcode(s, map <= 3 ? map : 0, 3, SPACE_VEX);
    case 0xc5:
        return vector_opcode(s, 1, 2, SPACE_VEX);
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
    u8 row = shape_group_row[s->space][facts >> 4 & 7][prefix];
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

bool scan_insn(const u8 *bytes, size_t size, Scan *s) {
    memset(s, 0, offsetof(Scan, window));
    s->bytes = bytes;
    if (size < SCAN_WINDOW) {
        memset(s->window, 0, sizeof(s->window));
        s->bytes = memcpy(s->window, bytes, size);
    }
    skip_prefixes(s);
    if (s->at == SHAPE_BYTES)
        return false;
    u8 facts = find_opcode(s);
    s->opcode_at = s->at++;
    if (facts & M)
        skip_operand(s);
    if ((facts & KIND) == GROUP)
        facts = settle_group(s, facts);
    s->kind = facts & KIND;
    s->immediate_at = s->at;
    s->length = (u8)(s->at + immediate_size(s, facts));
    return s->kind != BAD && s->length <= SHAPE_BYTES && s->length <= size;
}
