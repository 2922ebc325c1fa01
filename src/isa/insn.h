/* insn.h: registers and decoded instructions, for who lifts them and who does not: no LLVM is in here. */
#ifndef ISA_INSN_H
#define ISA_INSN_H

#include "base/base.h"
#include "lathe/types.h"

/* --------------------------------------------------------------------------------------------------------- registers */

/* A variable of the guest state that lives in SSA values while code is lifted. */
typedef u8 Reg;
enum { REG_MAX = 128, REG_NONE = 0xff, REG_PC = 0xfe };

typedef enum RegKind {
    REG_INT,
    REG_FLAG,
    REG_VECTOR,
    REG_FLOAT, /* a scalar: a narrower one has ones above it, and what has not is read as the default NaN (boxing) */
} RegKind;

typedef struct RegInfo {
    u32 off_bytes; /* in the guest state */
    u16 bits;
    u8 kind;
} RegInfo;

typedef struct RegSet {
    u64 word[REG_MAX / 64];
} RegSet;

static inline void regset_add(RegSet *s, Reg r) {
    s->word[r / 64] |= (u64)1 << r % 64;
}
static inline void regset_remove(RegSet *s, Reg r) {
    s->word[r / 64] &= ~((u64)1 << r % 64);
}
static inline bool regset_has(const RegSet *s, Reg r) {
    return s->word[r / 64] >> r % 64 & 1;
}
static inline void regset_join(RegSet *s, const RegSet *other) {
    for (size_t i = 0; i < ARRAY_LEN(s->word); i++)
        s->word[i] |= other->word[i];
}
static inline void regset_keep(RegSet *s, const RegSet *these) {
    for (size_t i = 0; i < ARRAY_LEN(s->word); i++)
        s->word[i] &= these->word[i];
}
static inline void regset_drop(RegSet *s, const RegSet *these) {
    for (size_t i = 0; i < ARRAY_LEN(s->word); i++)
        s->word[i] &= ~these->word[i];
}

static inline bool regset_meets(const RegSet *a, const RegSet *b) {
    u64 both = 0;
    for (size_t i = 0; i < ARRAY_LEN(a->word); i++)
        both |= a->word[i] & b->word[i];
    return both;
}
static inline bool regset_is_empty(const RegSet *s) {
    return !regset_meets(s, s);
}

/* ------------------------------------------------------------------------------------------------------ instructions */

typedef enum OperandKind { OPERAND_NONE, OPERAND_REG, OPERAND_MEM, OPERAND_IMM } OperandKind;

typedef struct Operand {
    u8 kind;
    u8 cls;            /* REG: the ISA's register class */
    u8 no;             /* REG: number within its class */
    bool high;         /* REG: bits 8–15 of a general register (x86 ah, ch, dh, bh) */
    u16 bits;          /* size of the operand */
    u8 base, index;    /* MEM: Reg, REG_NONE or (base only) REG_PC, in which case disp is the absolute address */
    u8 scale;          /* MEM: 1, 2, 4, 8, 16 */
    u8 index_bits;     /* MEM: so many low bits of the index count; 0: all do */
    bool index_signed; /* MEM: and are sign-extended */
    u8 seg;            /* MEM: the ISA's segment, 0 for none */
    u8 addr_bits;      /* MEM: 32 or 64 */
    i64 disp;          /* MEM: displacement; IMM: the value, sign-extended */
} Operand;

/* How control goes on after an instruction. */
typedef enum Flow {
    FLOW_NEXT,
    FLOW_JUMP,     /* to target */
    FLOW_BRANCH,   /* to target or to the next one */
    FLOW_CALL,     /* a guest call: target, or 0 where not known */
    FLOW_INDIRECT, /* a jump to a computed address */
    FLOW_RETURN,
    FLOW_SYSCALL, /* goes on after it where the configuration has an override, and stops otherwise */
    FLOW_STOP,    /* ends the function: traps, system calls without override, undecodable bytes */
} Flow;

enum { INSN_OPERANDS = 6 };

/* What is no address in Insn.landing: exceptions of the call go on to the caller, or end the program. */
typedef enum LandingPlace { LANDING_CALLER, LANDING_END } LandingPlace;

typedef struct Insn {
    u64 pc, target;
    u32 row; /* in the ISA's table; 0 is the row without a meaning */
    u8 size, flow, operand_count;
    u8 joined; /* how many instructions that follow it the decoder has made a part of it */
    i8 status; /* LatheStatus: why this is no instruction, or LATHE_OK */
    bool
        special; /* needs more than the general and vector registers and the flags, or has no meaning: LatheTuning.plain_only */
    bool calls_out;   /* its meaning is a call_out: the whole state goes through memory */
    u16 operand_bits; /* effective operand size */
    u8 address_bits;  /* effective address size */
    u8 segment;       /* the ISA's segment override, 0 for none */
    u16 prefixes;     /* the ISA's */
    u32 word;         /* the encoding, where the ISA has instructions of at most 32 bits */
    Operand op[INSN_OPERANDS];
    RegSet writes;  /* a superset of the registers it may write */
    RegSet flags;   /* the flags (Isa.dead_at_calls) that it reads */
    RegSet vectors; /* a superset of the vector registers it reads or writes */
    /* discovery's: */
    u32 pred, pred_count;           /* instructions that lead here: where they are listed, and how many */
    u32 next;                       /* the instruction after it in its block */
    bool last;                      /* a call that does not come back */
    u64 landing;                    /* where a call goes on if the callee throws, or one of LandingPlace */
    u32 block;                      /* the block it begins, or 0 */
    struct JumpTable *table;        /* of an indirect jump, once recovered */
    struct JumpTable *loaded_table; /* the table that this instruction reads */
} Insn;

static inline u64 insn_end(const Insn *in) {
    return in->pc + in->size;
}

/* Is it a call that has a landing pad for exceptions? */
static inline bool insn_lands(const Insn *in) {
    return in->flow == FLOW_CALL && in->landing > LANDING_END;
}

#endif
