/* jumptable.h: the tables behind the indirect jumps that compilers make of switch statements. */
#ifndef LIFT_JUMPTABLE_H
#define LIFT_JUMPTABLE_H

#include "isa/isa.h"

/* What there is to look at. */
typedef struct CodeView {
    void *self;
    const Isa *isa;
    /* The i-th instruction that can have come before `in`, or NULL. None where the function begins. */
    const Insn *(*before)(const struct CodeView *v, const Insn *in, u32 i);
    size_t (*read)(const struct CodeView *v, u64 addr, void *buf, size_t size);
    /* Could the entry at `at` be of a table that leads to `to`? May be NULL: nobody knows. */
    bool (*is_entry)(const struct CodeView *v, u64 at, u64 to);
} CodeView;

/* targets[i] is where the jump goes when the index register of the instruction at load_pc holds i in its low bits. */
typedef struct JumpTable {
    bool by_address; /* there is no table: the jump goes to one of the targets, or elsewhere. The rest is 0 */
    u64 load_pc;     /* the instruction that reads the index: the jump itself, or one before it */
    Reg index;       /* its index register, and how many of its bits count */
    u32 index_bits;
    u64 start, end; /* the table's bytes */
    u64 *targets;
    size_t count;
    bool sure;        /* the index is always below `count`: all ways to the jump bound it */
    Val lifted_index; /* the index at load_pc as 64 bits, once that is lifted */
} JumpTable;

/* The table of an indirect jump; false: none was found. */
bool jumptable_find(const CodeView *v, const Insn *jump, Arena *arena, JumpTable *out);

#endif
