/* shape_tables.h: what shape.c knows of each opcode: tables that shape_generate.c makes from the facts of facts.h when Lathe is built. */
#ifndef ISA_X86_64_SHAPE_TABLES_H
#define ISA_X86_64_SHAPE_TABLES_H

#include "isa/x86_64/shape.h"

/* What is known of an opcode, in a byte: M | immediate | kind. */
enum {
    M = 0x80, /* a ModRM byte follows */

    I8 = 0x10,
    I16 = 0x20,
    I32 = 0x30,
    IZ = 0x40,    /* 2 or 4 by operand size */
    IV = 0x50,    /* 2, 4 or 8 by operand size */
    MOFFS = 0x60, /* 4 or 8 by address size */
    ENTER = 0x70, /* 2 + 1 */
    IMMEDIATE = 0x70,

    /* A ShapeKind, or one of these. Of a group, what is known depends on ModRM or a mandatory prefix: its number is where others have the
     * immediate. */
    GROUP = SHAPE_OTHER + 1,
    PREFIX,
    ESCAPE,
    BAD,
    KIND = 0x0f,
};
_Static_assert(BAD <= KIND, "kinds fit into half a byte");

/* The opcodes of one byte, those behind 0F, and those of the map 0F in VEX and EVEX form, where there are no groups. */
enum { SHAPE_MAP_ONE, SHAPE_MAP_0F, SHAPE_LEGACY_MAPS, SHAPE_MAP_VEX = SHAPE_LEGACY_MAPS, SHAPE_MAPS };
extern const u8 shape_map[SHAPE_MAPS][256];

/* Of a group's opcode, by mandatory prefix (none, 66, F2, F3) and ModRM: what is known of it. The first eight of a row are for operands
 * in memory, by ModRM's reg; the rest is for register operands, by reg and rm. */
enum { SHAPE_GROUPS = 8, SHAPE_PREFIXES = 4, SHAPE_FORMS = 8 + 64 };
extern const u8 shape_group_row[SHAPE_LEGACY_MAPS][SHAPE_GROUPS][SHAPE_PREFIXES];
extern const u8 shape_row[][SHAPE_FORMS];

static inline u32 shape_form(u8 modrm) {
    return modrm < 0xc0 ? modrm >> 3 & 7 : 8u + (modrm & 0x3f);
}

/* Of each opcode, two bits for each value of ModRM's reg, the lowest bits for 0 (and for opcodes without ModRM): SHAPE_READS_FLAGS,
 * SHAPE_WRITES_FLAGS. They are of the six status flags, and say what one of the opcode's forms does. */
extern const u16 shape_flags[SHAPE_LEGACY_MAPS][256];
/* One bit for each value of ModRM's reg: some form of the opcode leaves one of the six as it was. */
extern const u8 shape_keeps[SHAPE_LEGACY_MAPS][256];

#endif
