/* graph.h: a function on its way from the original to new machine code.
 *
 * A rewriter follows the original instructions with what it knows (walk.h) and writes blocks of new ones. It is correct because of one rule: at
 * every point the machine's state is the same as in the original. So each instruction may stay what it is, a join may forget what was
 * known, and the original may continue at any point. Knowledge is noted beside an instruction: its result is a constant, or an operand can
 * be a number or a shorter address. Only in the end, when it is known which values are read at all (live.h), are instructions removed
 * or replaced by constants. */
#ifndef BINOPT_MACHINE_GRAPH_H
#define BINOPT_MACHINE_GRAPH_H

#include "binopt/process/unwind.h"
#include "binopt/x86_64/machine/callee.h"
#include "binopt/x86_64/machine/evaluate.h"
#include "binopt/x86_64/machine/memory.h"
#include "binopt/x86_64/machine/state.h"

typedef enum OutKind {
    OUT_INSN,   /* an instruction of the original, perhaps with other operands */
    OUT_CONST,  /* sets registers to constants: a fixed parameter */
    OUT_CALL,   /* a call that is not inlined */
    OUT_ENTER,  /* the begin of an inlined call: pushes the return address */
    OUT_RETURN, /* the end of an inlined call: pops the return address */
} OutKind;

/* How the memory operand changes. */
typedef enum AddressForm {
    ADDRESS_KEPT,
    ADDRESS_KNOWN,    /* its address is `addr` */
    ADDRESS_CONST,    /* constant bytes; `addr` is their place in the pool */
    ADDRESS_NO_INDEX, /* the index is known: base plus `addr` */
    ADDRESS_NO_BASE,  /* the base is known: index plus `addr` */
    ADDRESS_REGISTER, /* constant bytes in vector register `addr` (hoist.h): no memory operand */
} AddressForm;

/* What can be done with an instruction on vectors whose destination is known. */
typedef enum Turn {
    TURN_NONE,
    TURN_CONSTANT, /* the other operand is copied and combined with the constant at `bytes` */
    TURN_COPY,     /* the result is the other operand */
} Turn;

typedef struct Result {
    u8 reg;
    u64 low, high;
} Result;

/* Where the caller's registers are during a call, for exceptions that pass through. Offsets on the stack are those of
 * state.h. */
typedef struct CallFrame {
    u8 base;      /* a register that holds an address of the stack */
    i64 base_off; /* the offset of that address */
    u32 saved;    /* one bit for each register that is saved in its slot */
    i64 slot[GP_COUNT];
} CallFrame;

typedef struct OutInsn {
    const MachineInsn *in;
    const CallFrame *frame; /* for a call; NULL: exceptions do not pass through */
    u8 kind, address;
    u8 number_op; /* this operand is replaced by `number`; 0: none */
    bool swaps; /* its destination is `number`: if the flags are not read, it can be computed from the other operand */
    bool divides;     /* a division by `number`, which becomes a product if the remainder is not read: divide.h */
    u8 turns;         /* a Turn: like `swaps`, for vectors whose upper half is not read */
    bool known;       /* all registers it writes, except flags, are in `result` */
    bool effect;      /* it has effects that are not followed here: it is never removed */
    bool reads_frame; /* it may read all of the frame */
    bool constant;    /* the bytes of its memory operand are constant, and in the pool at `bytes` */
    bool store, load; /* it stores or loads `slot_bytes` bytes of the frame at `slot` */
    u8 result_count;
    u16 slot_bytes;
    i64 slot;
    u64 addr, number;
    u32 bytes;
    Regs reads, writes, kills;
    Regs live;             /* the registers that are read after it: live.c */
    u16 upper;             /* the vectors whose upper halves are read after it */
    bool dead, frame_dead; /* it is not needed; what it stores in the frame is not read */
    bool is_index;         /* its result becomes a part of an address: live.c */
    Result result[2];
} OutInsn;

typedef enum EndKind {
    END_NONE,   /* it was not walked yet */
    END_JUMP,   /* to next[0] */
    END_BRANCH, /* by `in`: to next[0] if its condition holds, else next[1] */
    END_RETURN,
    END_STOP,     /* the code behind it is not reached */
    END_LEAVE,    /* the original goes on at `target` */
    END_INDIRECT, /* by `in` */
} EndKind;

enum { NO_BLOCK = -1 };

typedef struct MachineBlock {
    u64 pc;
    u32 frame;    /* the index of the frame that its instructions belong to */
    u32 unknowns; /* number of branches on the path to it that were not known */
    State *in;
    OutInsn *out;
    u32 out_count;
    u8 end;
    bool reached, queued;
    i32 forward; /* the block that has replaced this one */
    i32 next[2];
    const MachineInsn *last;
    u64 target;
    Regs live_in, indices_in;
    u16 upper_in;
    u64 slots_in[8]; /* bit n: the slot at offset -8 * (n + 1) is read */
    u32 code_off;
    u32 followed; /* number of known branches and jumps inside it */
    u32 depth;    /* number of loops that contain it: order.c */
    bool placed, loops;
} MachineBlock;

enum { NO_FRAME = 0xffffffff };

/* What a block's instructions belong to: the function itself, a function whose call was inlined, or one pass through a
 * loop of one of these. */
typedef struct MachineFrame {
    u32 parent; /* the frame of the call; NO_FRAME: this is the function itself */
    u64 function, return_pc;
    i64 return_slot;
    u32 depth;
    u32 outer; /* for a loop: the frame around it, in the same function */
    u32 pass;
    u64 loop; /* where the loop begins; 0: this is not a loop */
} MachineFrame;

/* What the original's unwind tables say of a call. */
typedef struct CallRow {
    UnwindKind kind;
    UnwindRow row;
} CallRow;

typedef struct MachineUnit {
    const BinoptCfg *cfg;
    Arena arena;
    Memory memory;
    Callees callees;
    Evaluator *evaluator;
    VEC(MachineBlock) blocks;
    VEC(MachineFrame) frames;
    VEC(OutInsn) outs; /* the instructions of the block that is being walked */
    VEC(u8) pool;      /* constants, 16 bytes each */
    Map64 row_at;      /* pc -> index of rows */
    VEC(CallRow) rows;
    u64 code_base; /* an address from which new code is at most a few MiB away */
    u32 frame;     /* the frame of the block that is being walked */
    u64 total_outs, most_work;
    u64 code_bytes;      /* size of the new function */
    i64 lowest;          /* lowest offset of the stack pointer */
    bool escaped, newer; /* escaped: in any block; newer: there are AVX instructions */
    Regs returned;       /* the registers that may hold a part of the result: live.c */
    i64 compare;         /* how far the operands of the last known comparison were apart */
    const char *hopeless;
} MachineUnit;

i32 graph_add(MachineUnit *u, u64 pc, u32 frame, const State *s);
/* The block that a reference means, after replacements (`forward`). */
i32 graph_resolve(const MachineUnit *u, i32 block);
/* Adds constant bytes to the pool and returns their place; they take 16 bytes. */
u32 graph_constant(MachineUnit *u, const u8 *bytes, u32 size);

#endif
