/* shape.h: how long an instruction is, and the few facts that matter to who copies it somewhere else.
 *
 * It needs no library and no memory, and takes some twenty nanoseconds, so the freestanding client has it. What is known of each opcode is
 * in tables that are made from the facts (facts.h) when Lathe is built; shape.c itself knows only how instructions are encoded
 * (prefixes, opcode maps, ModRM, immediates). */
#ifndef ISA_X86_64_SHAPE_H
#define ISA_X86_64_SHAPE_H

#include "base/base.h"

/* What an instruction does besides computing: everything but SHAPE_PLAIN cannot be copied as it is. */
typedef enum ShapeKind {
    SHAPE_PLAIN,
    SHAPE_JCC,           /* target; the condition is the low half of the opcode */
    SHAPE_JMP,           /* target */
    SHAPE_CALL,          /* target */
    SHAPE_COUNTED,       /* loop, loope, loopne, jrcxz (and jecxz): target within 8 bits */
    SHAPE_RET,           /* immediate: bytes to drop, or 0 */
    SHAPE_JMP_INDIRECT,  /* near, through ModRM */
    SHAPE_CALL_INDIRECT, /* likewise */
    SHAPE_SYSCALL,
    SHAPE_CPUID,
    SHAPE_TRAP,  /* int n, int3, int1, ud0/1/2, hlt, in, out and others that always trap in user mode */
    SHAPE_OTHER, /* far transfers, iret, sysenter, xbegin/xabort; gs in use (prefix, rd/wrgsbase, mov to gs) */
} ShapeKind;

/* What it does with the status flags. It is not known of opcodes with three bytes, and of VEX, EVEX and XOP. */
enum {
    SHAPE_READS_FLAGS = 1,
    SHAPE_WRITES_FLAGS = 2,
    SHAPE_FLAGS_UNKNOWN = 4,
    SHAPE_KILLS_FLAGS = 8 /* all six surely */
};

enum { SHAPE_BYTES = 15 }; /* SDM 3A, 6.15, #GP: "instruction length exceeds 15 bytes" */

typedef struct Shape {
    u8 length;
    u8 kind;        /* ShapeKind */
    u8 rex;         /* 0: none */
    u8 opcode;      /* the last opcode byte */
    u8 opcode_at;   /* offset of it */
    u8 modrm_at;    /* 0: none, or of mov from and to control and debug registers, which trap */
    u8 disp_at;     /* offset of a 32-bit displacement relative to rip, or to eip; 0: none */
    bool address32; /* addresses have 32 bits: that displacement is relative to eip */
    u8 flags;       /* SHAPE_*_FLAGS */
    bool vector;    /* in VEX, EVEX or XOP form, but for BMI's, whose operands are general registers */
    u16 immediate;  /* of ret */
    i64 target;     /* of direct jumps and calls: relative to the instruction's end */
} Shape;

/* false: no instruction, or more than `size` bytes; *shape is then untouched. No byte after `size` is read. True does not
 * mean that the CPU knows the instruction, nor SHAPE_PLAIN that it cannot trap: a copy does what the original would have
 * done. Fastest where size is at least 24. */
bool shape_of(const u8 *bytes, size_t size, Shape *shape);

#endif
