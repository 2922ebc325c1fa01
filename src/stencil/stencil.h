/* stencil.h: code that was compiled once for each form of instruction, to be copied and patched.
 *
 * A stencil has the guest state in a host register, which every stencil keeps, and so are the registers kept that hold guest registers
 * (host/stencil.h), except that it changes those of its operands that it writes. There are stencils of each form for every choice of operands
 * that are in host registers; the others are in the state. A stencil begins with the host's stack pointer at any multiple of
 * HostStencil.stack_align and leaves it as it was. It goes on behind its end, or leaves by jumps that are patched: those with an address for the guest have it in a register that holds
 * none. All other registers are its own. The tables are made by generate.c when Lathe is built. */
#ifndef STENCIL_STENCIL_H
#define STENCIL_STENCIL_H

#include "host/stencil.h"

typedef enum PatchKind {
    PATCH_PLACE,        /* of register operand `arg` in the state */
    PATCH_IMMEDIATE,    /* of operand `arg` */
    PATCH_PC,           /* addresses of the guest: of the instruction, */
    PATCH_NEXT,         /* the one behind it, */
    PATCH_TARGET,       /* what it jumps to, */
    PATCH_PC_IMMEDIATE, /* itself and the immediate of operand `arg` */
    /* jumps and other things that are reached by a distance */
    PATCH_JUMP,          /* to the code of the instruction's target */
    PATCH_CALL,          /* the same where a function begins */
    PATCH_LOOKUP,        /* to what goes on at a computed address: by a jump, */
    PATCH_LOOKUP_CALL,   /* by a call, */
    PATCH_LOOKUP_RETURN, /* by a return */
    PATCH_TRAP,          /* to what handles the trap in the state */
    PATCH_HELPER,        /* number `arg` of stencil_helpers */
    PATCH_CONSTANT,      /* in stencil_constants, from `arg` on */
} PatchKind;

typedef struct StencilPatch {
    u16 at; /* where it is in the code */
    u8 kind,
        how; /* PatchKind; and the host's way to write the value there: how many bytes it has, or which bits of an instruction */
    i8 addend;
    u32 arg;
} StencilPatch;

/* Where the code names the register of operand `arg`, and the number that it has there. */
typedef struct StencilField {
    HostField field;
    u8 number, arg;
} StencilField;

typedef struct Stencil {
    u32 code;  /* where it begins in stencil_code */
    u32 patch; /* and in stencil_patches, */
    u32 field; /* and in stencil_fields */
    u16 size;
    u8 patches, fields;
    bool distinct; /* the register that it writes must not be another operand, too */
} Stencil;

/* A C function that stencils call. Its arguments are in the registers HostStencil.arguments; `with_state`: behind the state. */
typedef struct StencilHelper {
    const char *name;
    bool with_state;
} StencilHelper;

/* The key of a form whose operands in `held`, a bit for each, are in host registers. */
static inline u64 stencil_key(u64 form, u32 held) {
    return form ^ (u64)held << 56;
}

/* Stencils by key: open addressing, beginning at stencil_hash of the key; STENCIL_NONE in `stencil`: not used. */
typedef struct StencilSlot {
    u64 key;
    u32 stencil;
} StencilSlot;

#define STENCIL_NONE (~(u32)0)

extern const u8 stencil_code[];
extern const StencilPatch stencil_patches[];
extern const StencilField stencil_fields[];
extern const Stencil stencils[];
extern const StencilSlot stencil_slots[];
extern const u32 stencil_slot_bits;
extern const StencilHelper stencil_helpers[]; /* ended by one without a name */
extern const u8 stencil_constants[];          /* wherever it is copied to: aligned as this says */
enum { STENCIL_CONSTANTS_ALIGN = 32 };
extern const u32 stencil_constants_size;

static inline u32 stencil_hash(u64 key, u32 bits) {
    return (u32)(key * 0x9e3779b97f4a7c15u >> (64 - bits));
}

/* NULL: there is none. */
static inline const Stencil *stencil_find(u64 key) {
    u32 mask = (1u << stencil_slot_bits) - 1;
    for (u32 i = stencil_hash(key, stencil_slot_bits); stencil_slots[i].stencil != STENCIL_NONE; i = (i + 1) & mask)
        if (stencil_slots[i].key == key)
            return &stencils[stencil_slots[i].stencil];
    return NULL;
}

#endif
