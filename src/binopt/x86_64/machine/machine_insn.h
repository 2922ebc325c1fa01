/* machine_insn.h: one instruction of the original function, in the form that is needed to copy and change it. All of it is derived from its facts
 * (isa/x86_64/facts.h).
 *
 * A vector is one register whatever part of it is used: the number of its lowest part stands for all of it. The content of its upper halves
 * is never known. */
#ifndef BINOPT_MACHINE_MACHINE_INSN_H
#define BINOPT_MACHINE_MACHINE_INSN_H

#include <Zydis/Zydis.h>

#include "isa/x86_64/facts.h"

/* The first word of a RegSet, without the upper parts of vectors: general registers, flags and vectors. */
typedef u64 Regs;

enum { GP_COUNT = 16, VEC_COUNT = 32, FLAG_COUNT = 7, NO_REG = REG_NONE, PC_REG = REG_PC };

#define BIT(r) ((Regs)1 << (r))
#define ALL_GP ((Regs)0xffff)
#define ALL_VEC ((Regs)0xffffffff << XMM0)
#define ALL_FLAGS ((Regs)0x7f << CF)
#define ALL_REGS (ALL_GP | ALL_VEC | ALL_FLAGS)

/* By the calling convention: the registers that a call may read, and those that it leaves undefined. */
#define ABI_ARGUMENTS                                                                                                  \
    (BIT(RDI) | BIT(RSI) | BIT(RDX) | BIT(RCX) | BIT(R8) | BIT(R9) | BIT(RAX) | BIT(R10) | BIT(RSP) |                  \
     (Regs)0xff << XMM0)
#define ABI_SAVED (BIT(RBX) | BIT(RBP) | BIT(RSP) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15))
#define ABI_CLOBBERED (ALL_REGS & ~ABI_SAVED)

/* What an instruction does with the upper halves (of 128 bits) of its vector operands. */
typedef enum Halves {
    HALVES_READ, /* it may read them */
    HALVES_KEPT, /* it reads none, and does not change that of its first operand */
    HALVES_COPIED,
} Halves;

typedef enum OpKind { OP_NONE, OP_GP, OP_VEC, OP_MEM, OP_IMM, OP_OTHER } OpKind;

typedef struct MachineOp {
    u8 kind, no;
    bool high; /* ah, bh, ch or dh */
    bool read, write;
    u16 bits;
    i64 imm;
} MachineOp;

typedef struct Mem {
    u8 base, index; /* PC_REG, NO_REG or a general register */
    u8 scale;
    bool odd; /* it has a segment, a 32-bit address or is a gather: it is only copied */
    bool read, write;
    u16 bytes;
    i64 disp; /* with PC_REG: the address itself */
} Mem;

typedef struct MachineInsn {
    u64 pc;
    u8 bytes[16], length;
    u16 mnemonic;
    u8 flow;       /* Flow; FLOW_STOP: it cannot be copied here, and the original continues there */
    bool indirect; /* jump or call through a register or memory */
    u64 target;    /* target of a direct jump or call */
    Regs reads; /* registers whose value is read, except for addresses; includes registers of which it keeps a part */
    Regs address, writes, kills, undefined;
    Regs tested;       /* flags that the result depends on */
    bool plain;        /* it only changes its operands */
    bool pure;         /* and can be executed alone, with any values */
    bool takes_vector; /* arithmetic whose memory operand can be replaced by a vector register */
    bool maybe_flags;  /* it may leave the flags unchanged: a shift by cl */
    u8 level;          /* X86Level: which CPUs have it */
    bool legacy_vector, new_vector;
    u8 halves;
    u8 op_count;
    MachineOp op[4]; /* the explicit operands */
    bool has_high;
    bool has_mem;
    Mem mem;                /* the memory operand that is encoded in the instruction */
    bool touches_memory;    /* memory that mem does not describe: push, string instructions, masked moves */
    u8 modrm_off, tail_off; /* the offset of ModRM, and of what follows the displacement; 0: there is no ModRM */
    u8 cond;                /* condition code of a conditional jump, cmov or setcc; COND_NONE for others */
} MachineInsn;

/* Returns false if the bytes are not an instruction. */
bool machine_decode(u64 pc, const u8 *bytes, size_t size, MachineInsn *in);

#endif
