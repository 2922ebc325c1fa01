/* insn.h: one decoded instruction with what it reads and writes, by the decoder's own tables.
 *
 * Registers are bits of a RegSet: 16 general ones, 32 vectors, the status flags. A vector is one register whatever part of it is
 * used; its upper halves are never known. */
#ifndef BINOPT_MACHINE_INSN_H
#define BINOPT_MACHINE_INSN_H

#include <Zydis/Zydis.h>

#include "base/base.h"

typedef u64 RegSet;

enum {
    R_AX,
    R_CX,
    R_DX,
    R_BX,
    R_SP,
    R_BP,
    R_SI,
    R_DI,
    R_8,
    R_9,
    R_10,
    R_11,
    R_12,
    R_13,
    R_14,
    R_15,
    R_VEC = 16,
    R_FLAGS = 48, /* CF PF AF ZF SF OF DF */
    R_COUNT = 55,
    GP_COUNT = 16,
    VEC_COUNT = 32,
    FLAG_COUNT = 7,
    NO_REG = 0xff,
    PC_REG = 0xfe,
};

#define BIT(r) ((RegSet)1 << (r))
#define ALL_GP ((RegSet)0xffff)
#define ALL_VEC ((RegSet)0xffffffff << R_VEC)
#define ALL_FLAGS ((RegSet)0x7f << R_FLAGS)
#define ALL_REGS (ALL_GP | ALL_VEC | ALL_FLAGS)

/* By the calling convention: what a call may read, and what it leaves undefined. */
#define ABI_ARGUMENTS                                                                                                  \
    (BIT(R_DI) | BIT(R_SI) | BIT(R_DX) | BIT(R_CX) | BIT(R_8) | BIT(R_9) | BIT(R_AX) | BIT(R_10) | BIT(R_SP) |         \
     (RegSet)0xff << R_VEC)
#define ABI_SAVED (BIT(R_BX) | BIT(R_BP) | BIT(R_SP) | BIT(R_12) | BIT(R_13) | BIT(R_14) | BIT(R_15))
#define ABI_CLOBBERED (ALL_REGS & ~ABI_SAVED)

typedef enum Flow {
    FLOW_ON,
    FLOW_JUMP,
    FLOW_BRANCH,
    FLOW_CALL,
    FLOW_RETURN,
    FLOW_STOP,  /* what follows is not reached */
    FLOW_LEAVE, /* nothing here knows how to copy it: the original goes on from it */
} Flow;

typedef enum Level { LEVEL_BASE, LEVEL_3, LEVEL_OTHER } Level;

/* What an instruction has to do with the upper halves of 128 bits of its vector operands. */
typedef enum Halves {
    HALVES_READ, /* it may read them */
    HALVES_KEPT, /* it reads none, and leaves that of its first operand alone */
    HALVES_COPIED,
} Halves;

typedef enum OpKind { OP_NONE, OP_GP, OP_VEC, OP_MEM, OP_IMM, OP_OTHER } OpKind;

typedef struct Op {
    u8 kind, no;
    bool high; /* ah and its like */
    bool read, write;
    u16 bits;
    i64 imm;
} Op;

typedef struct Mem {
    u8 base, index; /* PC_REG, NO_REG or a general register */
    u8 scale;
    bool odd; /* a segment, a 32-bit address, a gather: only copied */
    bool read, write;
    u16 bytes;
    i64 disp; /* with PC_REG the address itself */
} Mem;

typedef struct Insn {
    u64 pc;
    u8 bytes[16], length;
    u16 mnemonic;
    u8 flow;
    bool indirect; /* jump or call through a register or memory */
    u64 target;    /* of a direct one */
    RegSet reads;  /* values, not addresses */
    RegSet address, writes, kills, undefined;
    RegSet tested;     /* flags that the result depends on */
    bool plain;        /* does nothing but change its operands */
    bool pure;         /* and can be executed alone, on any values */
    bool takes_vector; /* arithmetic whose memory operand could be a vector register */
    bool maybe_flags;  /* its flags may stay as they are: a shift by cl */
    u8 level;          /* which CPUs have it: Level */
    bool legacy_vector, new_vector;
    u8 halves;
    u8 op_count;
    Op op[4]; /* those one can see */
    bool has_high;
    bool has_mem;
    Mem mem;                /* the one that can be written in the instruction */
    bool touches_memory;    /* in a way that mem does not tell: push, string instructions */
    u8 modrm_off, tail_off; /* where ModRM is, and what follows the displacement; 0: no ModRM */
    u8 cond;                /* of a conditional jump, cmov or setcc: its code; 0xff: none */
} Insn;

/* False if the bytes are no instruction. */
bool insn_decode(u64 pc, const u8 *bytes, size_t size, Insn *in);

#endif
