/* scan.h: the parts of an instruction: where its prefixes, opcode, ModRM and immediate are. It is what shape.c and view.c have in common:
 * neither needs Zydis, so the client has both. */
#ifndef ISA_X86_64_SCAN_H
#define ISA_X86_64_SCAN_H

#include "isa/x86_64/shape.h"

enum { SCAN_WINDOW = 24 }; /* bytes that may be looked at: 14 prefixes, EVEX, opcode, ModRM and SIB are 21 */

/* The tables of opcodes: of one byte, behind 0F, 0F38 and 0F3A; VEX's maps 1 to 3, EVEX's 1 to 6, XOP's 8 to 10. The first two are numbered
 * as in shape_map. */
enum {
    SPACE_ONE,
    SPACE_0F,
    SPACE_0F38,
    SPACE_0F3A,
    SPACE_VEX,
    SPACE_EVEX = SPACE_VEX + 3,
    SPACE_XOP = SPACE_EVEX + 6,
    SPACE_COUNT = SPACE_XOP + 3,
};

static inline bool space_is_evex(u8 space) {
    return space >= SPACE_EVEX && space < SPACE_XOP;
}

/* The instruction as far as it has been read. */
typedef struct Scan {
    const u8 *bytes;
    u8 at;       /* the next byte */
    u8 rex, rep; /* rep: the last of F2 and F3, which counts */
    u8 segment;  /* the last of 64 and 65 */
    bool operand16, address32, lock, gs, vector;
    u8 space;                        /* SPACE_*: whose opcode it is */
    u8 payload_at;                   /* what follows the first byte of VEX, EVEX or XOP; 0: it has none of these */
    u8 opcode_at, modrm_at, disp_at; /* modrm_at, disp_at: see Shape */
    u8 immediate_at;                 /* behind all else */
    u8 length, kind;                 /* kind: ShapeKind, whether gs is used or not */
    u8 window[SCAN_WINDOW];          /* the bytes, where there are fewer */
} Scan;

/* Reads the parts. False: no instruction, or more than `size` bytes; see shape_of. */
bool scan_insn(const u8 *bytes, size_t size, Scan *s);

#endif
