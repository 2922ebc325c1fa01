/* stencil_frame.h: registers on the way into a stencil and out of it, and, of programs for another host, where everything is. Known to assembly, too. */
#ifndef ISA_STENCIL_FRAME_H
#define ISA_STENCIL_FRAME_H

#include <stddef.h>
#include <stdint.h>

typedef struct StencilFrame {
    uint64_t cpu, code; /* the guest state, and where the stencil is */
    uint64_t leave;     /* where its exits lead to */
    uint64_t exit;      /* afterwards: by which it left, */
    uint64_t address;   /* and the guest address that it has left behind */
    uint64_t unused[3];
    uint64_t reg[32];       /* by their numbers */
    uint8_t vector[16][16]; /* from the host's first_float on */
} StencilFrame;
_Static_assert(offsetof(StencilFrame, reg) == 64 && offsetof(StencilFrame, vector) == 320, "as assembly has it");

/* How an instruction was left. */
typedef enum Exit { EXIT_NEXT, EXIT_TARGET, EXIT_ADDRESS, EXIT_TRAP, EXITS } Exit;

enum { STENCIL_CODE_BYTES = 2048 };

/* What runner_stencils.c gets in place of a guest state. */
typedef struct StencilVisit {
    StencilFrame frame;
    uint32_t size;
    uint8_t code[STENCIL_CODE_BYTES];
    _Alignas(64) uint8_t cpu[4096];
} StencilVisit;

/* Where it has code, the exits, the way to each helper, and constants. */
enum {
    AREA = 0x2c000000,
    AREA_EXITS = AREA + 4096,
    AREA_EXIT_BYTES = 32,
    AREA_HELPERS = AREA_EXITS + EXITS * AREA_EXIT_BYTES,
    AREA_HELPER_BYTES = 32,
    AREA_CONSTANTS = AREA + 0x40000,
    AREA_BYTES = 0x80000,
};

#endif
