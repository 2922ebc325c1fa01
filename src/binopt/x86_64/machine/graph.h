/* graph.h: a function on its way from old to new machine code.
 *
 * A rewriter walks through the original instructions with what it knows (walk.h) and puts down blocks of new ones. One rule makes
 * that sound: at every point the machine's state is the same as it would be in the original, so that each instruction may stay
 * what it is, a join may forget what was known, and the original may go on anywhere. What is known is noted beside it: a result
 * that is a constant, an operand that can be a number or a shorter address. Only in the end, when it is seen what is read at
 * all (live.h), are instructions dropped or replaced by constants. */
#ifndef BINOPT_MACHINE_GRAPH_H
#define BINOPT_MACHINE_GRAPH_H

#include "binopt/process/unwind.h"
#include "binopt/x86_64/machine/callee.h"
#include "binopt/x86_64/machine/evaluate.h"
#include "binopt/x86_64/machine/memory.h"
#include "binopt/x86_64/machine/state.h"

typedef enum OutKind {
    OUT_INSN,   /* the original's, perhaps with other operands */
    OUT_CONST,  /* registers become constants: a fixed parameter */
    OUT_CALL,   /* a call that stays one */
    OUT_ENTER,  /* of a call that does not: the return address is pushed */
    OUT_RETURN, /* and taken from the stack */
} OutKind;

/* What becomes of the memory operand. */
typedef enum Address {
    ADDRESS_KEPT,
    ADDRESS_KNOWN,    /* `addr` */
    ADDRESS_CONST,    /* constant bytes, `addr` is where they are kept */
    ADDRESS_NO_INDEX, /* base and `addr` */
    ADDRESS_NO_BASE,  /* index and `addr` */
    ADDRESS_REGISTER, /* none: constant bytes are in vector register `addr` (hoist.h) */
} Address;

/* An instruction on vectors whose destination is known. */
typedef enum Turn {
    TURN_NONE,
    TURN_CONSTANT, /* it can be made from the other operand, and the constant at `bytes` */
    TURN_COPY,     /* it is the other operand */
} Turn;

typedef struct Result {
    u8 reg;
    u64 low, high;
} Result;

/* Where the caller's registers are during a call, for exceptions to pass. Offsets on the stack are those of state.h. */
typedef struct CallFrame {
    u8 base;      /* a register that has an address of the stack, */
    i64 base_off; /* which is this */
    u32 saved;    /* a bit for each register that is in its slot */
    i64 slot[GP_COUNT];
} CallFrame;

typedef struct Out {
    const MachineInsn *in;
    const CallFrame *frame; /* of a call; NULL: exceptions do not pass */
    u8 kind, address;
    u8 number_op;     /* this operand becomes `number`; 0: none */
    bool swaps;       /* its destination is `number`: if flags do not matter, it can be made from the other operand */
    bool divides;     /* by `number`, if the remainder does not matter: divide.h */
    u8 turns;         /* the same of vectors, if the upper half does not matter: Turn */
    bool known;       /* all registers it writes are in `result`, flags aside */
    bool effect;      /* does what nobody here can see: stays */
    bool reads_frame; /* may read anything of the frame */
    bool constant;    /* the memory operand's bytes are, and are kept in the pool at `bytes` */
    bool store, load; /* of `slot_bytes` bytes of the frame at `slot` */
    u8 result_count;
    u16 slot_bytes;
    i64 slot;
    u64 addr, number;
    u32 bytes;
    Regs reads, writes, kills;
    Regs live;             /* what is read after it: live.c */
    u16 upper;             /* upper halves of vectors that are */
    bool dead, frame_dead; /* not needed; what it stores in the frame is not read */
    Result result[2];
} Out;

typedef enum EndKind {
    END_NONE,   /* not walked yet */
    END_JUMP,   /* to next[0] */
    END_BRANCH, /* by `in`: to next[0] if its condition holds, else next[1] */
    END_RETURN,
    END_STOP,     /* what is behind is not reached */
    END_LEAVE,    /* the original goes on at `target` */
    END_INDIRECT, /* by `in` */
} EndKind;

enum { NO_BLOCK = -1 };

typedef struct Block {
    u64 pc;
    u32 frame;    /* whose instructions these are: an index of frames */
    u32 unknowns; /* branches on the way here that were not known */
    State *in;
    Out *out;
    u32 out_count;
    u8 end;
    bool reached, queued;
    i32 forward; /* another block has taken its place */
    i32 next[2];
    const MachineInsn *last;
    u64 target;
    Regs live_in;
    u16 upper_in;
    u64 slots_in[8]; /* bit n: the slot at offset -8 * (n + 1) is read */
    u32 code_off;
    u32 followed; /* known branches and jumps that it goes on behind */
    u32 depth;    /* how many loops it is in: order.c */
    bool placed, loops;
} Block;

enum { NO_FRAME = 0xffffffff };

/* Whose instructions are meant, and when: a function whose call was inlined, or the first one, or one pass through a loop of it. */
typedef struct Frame {
    u32 parent; /* where it was called; NO_FRAME: the first one */
    u64 function, return_pc;
    i64 return_slot;
    u32 depth;
    u32 outer; /* of a loop: what it is in, in the same function */
    u32 pass;
    u64 loop; /* where it begins; 0: no loop */
} Frame;

/* What the tables of the original say of a call. */
typedef struct CallRow {
    UnwindKind kind;
    UnwindRow row;
} CallRow;

typedef struct Unit {
    const BinoptCfg *cfg;
    Arena arena;
    Memory memory;
    Callees callees;
    Evaluator *evaluator;
    VEC(Block) blocks;
    VEC(Frame) frames;
    VEC(Out) outs; /* of the block that is being walked */
    VEC(u8) pool;  /* constants, 16 bytes each */
    Map64 row_at;  /* pc -> index of rows */
    VEC(CallRow) rows;
    u64 code_base; /* new code is within a few MiB of it */
    u32 frame;     /* of the block that is being walked */
    u64 total_outs, most_work;
    u64 code_bytes;      /* of the new function */
    i64 lowest;          /* of the stack pointer */
    bool escaped, newer; /* anywhere; there are AVX instructions */
    Regs returned;       /* what may be a part of the result: live.c */
    i64 compare;         /* the last known comparison: how far its operands were apart */
    const char *hopeless;
} Unit;

i32 graph_add(Unit *u, u64 pc, u32 frame, const State *s);
/* The block that a reference means. */
i32 graph_resolve(const Unit *u, i32 block);
/* 16 constant bytes; where in the pool. */
u32 graph_constant(Unit *u, const u8 *bytes, u32 size);

#endif
