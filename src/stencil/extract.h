/* extract.h: from LLVM's object to stencils; see extract.c. */
#ifndef STENCIL_EXTRACT_H
#define STENCIL_EXTRACT_H

#include "stencil/holder.h"
#include "stencil/stencil.h"

enum { PIECE_BYTES = 1280, PIECE_PATCHES = 64, PIECE_FIELDS = 32 };

/* A stencil by itself. */
typedef struct Piece {
    u8 code[PIECE_BYTES];
    StencilPatch patch[PIECE_PATCHES];
    StencilField field[PIECE_FIELDS];
    u32 size, patches, fields;
    bool distinct; /* as in a Stencil */
} Piece;

/* An object in memory, and what its stencils refer to besides holes, in the order of the numbers in patches. */
typedef struct Extract {
    const HostStencil *host;
    const u8 *object;
    VEC(StencilHelper) helpers;
    VEC(u8) constants;
    u32 *constant_off; /* by section: where its bytes are in constants, plus 1; 0: nowhere yet */
} Extract;

void extract_begin(Extract *x, const HostStencil *host, const void *object);
/* The function of that name, which is the instruction's stencil with these operands in host registers; false: its operands cannot be
 * in any others than those that it was compiled with, or it is too long. */
bool extract_piece(Extract *x, const char *name, const Insn *in, const Held *held, Piece *piece);

#endif
