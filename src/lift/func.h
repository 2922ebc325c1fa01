/* func.h: a function being lifted: its instructions, its blocks, and the values its registers have in each block. */
#ifndef LIFT_FUNC_H
#define LIFT_FUNC_H

#include "isa/isa.h"
#include "lift/convention.h"
#include "lift/jumptable.h"
#include "lift/watch.h"

typedef struct RegVal RegVal;
typedef struct Pending Pending;

/* A list in an arena. */
typedef struct BlockList {
    u32 block;
    struct BlockList *next;
} BlockList;

/* Block 0 is no guest code: it is where the function begins, with all registers in the guest state. */
typedef struct Block {
    u32 first, insn_count; /* instructions, linked by Insn.next */
    u32 *succ;             /* one entry per edge; duplicates are possible */
    u32 succ_count;
    BlockList *preds; /* one entry per edge */
    u32 pred_count;
    bool exits;

    /* dominance */
    bool reachable;
    u32 order;     /* in reverse postorder */
    u32 idom;      /* block 0 is its own */
    u32 pre, post; /* of the dominator tree: a dominates b if it encloses b */
    BlockList *frontier;
    bool heads_loop, in_loop;
    bool loop_calls; /* each time around the loop that it heads, something calls out */

    /* registers */
    RegSet writes;   /* what its instructions may write, and everything if one calls out */
    RegSet dirty_in; /* registers whose value in the guest state may be old when the block begins */
    RegSet leaves;   /* written since the last call out */
    RegSet settles;  /* dirty at its end, and written back there: a block after it has them clean */
    bool calls_out;  /* which writes everything before it back */

    /* lifting */
    Label head, tail;
    RegVal **vals;          /* current value of each register; NULL: as at the block's start or after `reload` */
    Val reload;             /* the last call in the block, which every register comes from, or NULL */
    bool reload_from_state; /* that call took and left all of them in the guest state */
    Label poll;             /* the way out that its poll takes, or NULL */
    RegVal *flag_phis;      /* at its head */
    Val begins;             /* a phi for LiftWatch.before, or NULL */
} Block;

struct LatheFunc {
    Lifter l; /* first: the LiftOps get from one to the other */
    LatheConfig cfg;
    LatheTuning tuning; /* cfg.tuning leads here */
    const Isa *isa;
    Convention conv;
    Arena arena;
    VEC(Insn) insns;
    Map64 by_pc;
    VEC(u32) preds; /* lists of instructions: see Insn.pred */
    u64 entry_pc;
    bool has_indirect;    /* is there an indirect jump? */
    size_t table_entries; /* of all jump tables taken */
    size_t label_ways;    /* of all jumps by address: how many places each may lead to, added up */
    LatheProblem problem;

    /* window of guest bytes that decoding reads from */
    u64 window_pc;
    u32 window_len;
    u8 window[256];

    Block *blocks;
    u32 block_count;
    u32 *order; /* reachable blocks in reverse postorder */
    u32 order_count;
    RegSet settled;           /* what any block settles */
    u64 *phi_blocks[REG_MAX]; /* per register a bitmap of the blocks where its definitions meet; made on demand */

    u32 current;      /* the block being lifted */
    RegSet dirty;     /* at the place being lifted */
    bool cold;        /* in a side exit: values made here are not seen by what follows */
    Pending *pending; /* phis whose incoming values are still to be filled in */

    Val entered;                  /* an i1: was control transferred to where the function begins? See watch.h */
    RegSet vectors_too;           /* see func_match */
    VEC(LatheRange) ranges, also; /* `also`: see func_depend */
};

/* The function that a lifter belongs to. */
static inline LatheFunc *func_of(Lifter *l) {
    return (LatheFunc *)l;
}

/* A call through which the whole guest state goes: it counts as writing everything. */
static inline bool func_calls_out(const LatheFunc *fn, const Insn *in) {
    return in->calls_out || (in->flow == FLOW_CALL && fn->cfg.calls == LATHE_CALLS_RETURN && fn->cfg.dispatch);
}

/* How many vector registers are arguments and results of the function. With LatheTuning.narrow these are no more than its instructions name: the others stay
 * in the host's registers unseen. That holds only if the code that becomes of the function touches none of the host's vector registers from this
 * number on, and calls nothing but lifted functions; the caller must see to it. */
unsigned func_vectors(LatheFunc *fn);

/* Such a function is lifted as with LatheConfig.strict_fp. */
bool func_changes_rounding(const LatheFunc *fn);

/* Gives these functions one signature: with LatheTuning.narrow, the vector registers that any of them names are arguments and results of all. To be called when all are
 * decoded, before anything else is asked of them. */
void func_match(LatheFunc *const *fns, size_t count);

/* What becomes of `fn` also depends on the guest's bytes that `on` was decoded from: lathe_func_ranges of `fn` has these, too. */
void func_depend(LatheFunc *fn, LatheFunc *on);

/* discover.c */
size_t discover_read(LatheFunc *fn, u64 addr, void *buf, size_t size);
LatheStatus discover_insn(LatheFunc *fn, u64 pc);
LatheStatus discover_block(LatheFunc *fn, u64 pc);
LatheStatus discover_graph(LatheFunc *fn, u64 pc);

/* graph.c: from instructions to blocks, dominance and dirty registers */
void graph_build(LatheFunc *fn);
u32 graph_block_at(const LatheFunc *fn, u64 pc); /* 0 if no block begins there */
static inline bool graph_dominates(const LatheFunc *fn, u32 a, u32 b) {
    return fn->blocks[a].pre <= fn->blocks[b].pre && fn->blocks[b].post <= fn->blocks[a].post;
}

/* regfile.c: guest registers as SSA values */
Val regfile_read(Lifter *l, Reg r, Ty t);
void regfile_write(Lifter *l, Reg r, Val v);
void regfile_write_low(Lifter *l, Reg r, Val v);
void regfile_also(Lifter *l, Reg r, Val v);
void regfile_copy(Lifter *l, Reg to, Reg from);
bool regfile_has(Lifter *l, Reg r, Ty t);
void regfile_defer(Lifter *l, Reg r, MakeLazy *make, const void *arg);
const void *regfile_deferred(Lifter *l, Reg r, MakeLazy *make);
/* Write dirty registers back to the guest state: all of them, or those that have no slot in the convention. */
void regfile_flush(LatheFunc *fn, bool flags_dead, bool slots_too);
/* At the end of the block being lifted: write back what it settles. */
void regfile_settle(LatheFunc *fn);
/* After `call` everything is where the convention has it, or in the guest state. */
void regfile_reload(LatheFunc *fn, Val call, bool from_state);
/* Fill the phis, when all blocks are lifted; and polls write back the flags that somebody reads from there on. */
void regfile_finish(LatheFunc *fn);

/* facet.c: one value under another type */
Ty facet_native(const RegInfo *reg);        /* the type that holds all of a register */
Ty facet_carrier(const RegInfo *reg, Ty t); /* the full-width type nearest to t, for phis and loads */
bool facet_is_part(const RegInfo *reg,
                   Ty t); /* must t be followed by itself, because its way from and to the whole costs? */
Val facet_convert(Lifter *l, const RegInfo *reg, Val v, Ty to);

/* canonical.c: choose between results and the guest's NaN where it matters; the function is complete */
void canonical_settle(Lifter *l);

/* frame.c: marks the accesses to the function's own frame, if its address is not given away; the function is complete */
void frame_mark(LatheFunc *fn);

/* watch.c: tells LatheTuning.watch, if there is one. In block 0: */
void watch_begin(LatheFunc *fn);
bool watch_look(const LatheFunc *fn, u64 pc, const u8 *bytes, size_t *size);
void watch_before(LatheFunc *fn, const Insn *in, Val begins);
void watch_transfer(LatheFunc *fn, const Insn *in, Val target, Val taken);
void watch_behind(LatheFunc *fn, const Insn *in);
/* What LiftWatch.before is told of a block's first instruction, when its head is still empty; and of one behind another. */
Val watch_head(LatheFunc *fn, Block *b);
Val watch_next(const LatheFunc *fn, const Insn *before);
void watch_finish(LatheFunc *fn); /* when all blocks are lifted */
/* Whoever leaves before an instruction, or with the one behind `last`: has he to say that it is inside of what a tool sees as a block? watch_set_inside says so, and
 * returns the trap to leave with. */
bool watch_leaves_inside(const LatheFunc *fn, Val begins);
bool watch_goes_on_inside(const LatheFunc *fn, const Insn *last);
LatheTrap watch_set_inside(LatheFunc *fn, Val begins);

/* flow.c: control flow */
extern const LiftOps lift_ops;
void flow_poll(LatheFunc *fn, u64 pc, Val begins);
void flow_fall_through(LatheFunc *fn, const Insn *last);
void flow_unliftable(LatheFunc *fn, const Insn *in, Val begins);

#endif
