/* insn.h: one instruction of the original function, as those who copy and change it see it. All of it is derived from its facts
 * (isa/x86_64/facts.h).
 *
 * A vector is one register whatever part of it is used: the number of its lowest part stands for all of it. Its upper halves are
 * never known. */
#ifndef BINOPT_MACHINE_INSN_H
#define BINOPT_MACHINE_INSN_H

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

/* By the calling convention: what a call may read, and what it leaves undefined. */
#define ABI_ARGUMENTS                                                                                                  \
    (BIT(RDI) | BIT(RSI) | BIT(RDX) | BIT(RCX) | BIT(R8) | BIT(R9) | BIT(RAX) | BIT(R10) | BIT(RSP) |                  \
     (Regs)0xff << XMM0)
#define ABI_SAVED (BIT(RBX) | BIT(RBP) | BIT(RSP) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15))
#define ABI_CLOBBERED (ALL_REGS & ~ABI_SAVED)

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

typedef struct MachineInsn {
    u64 pc;
    u8 bytes[16], length;
    u16 mnemonic;
    u8 flow;       /* Flow; FLOW_STOP: nothing here knows how to copy it, and the original goes on from it */
    bool indirect; /* jump or call through a register or memory */
    u64 target;    /* of a direct one */
    Regs reads;    /* values, not addresses; what it keeps a part of is read, too */
    Regs address, writes, kills, undefined;
    Regs tested;       /* flags that the result depends on */
    bool plain;        /* does nothing but change its operands */
    bool pure;         /* and can be executed alone, on any values */
    bool takes_vector; /* arithmetic whose memory operand could be a vector register */
    bool maybe_flags;  /* its flags may stay as they are: a shift by cl */
    u8 level;          /* which CPUs have it: X86Level */
    bool legacy_vector, new_vector;
    u8 halves;
    u8 op_count;
    Op op[4]; /* those one can see */
    bool has_high;
    bool has_mem;
    Mem mem;                /* the one that can be written in the instruction */
    bool touches_memory;    /* in a way that mem does not tell: push, string instructions, masked moves */
    u8 modrm_off, tail_off; /* where ModRM is, and what follows the displacement; 0: no ModRM */
    u8 cond;                /* of a conditional jump, cmov or setcc: its code; COND_NONE: of others */
} MachineInsn;

/* False if the bytes are no instruction. */
bool insn_decode(u64 pc, const u8 *bytes, size_t size, MachineInsn *in);

#endif
