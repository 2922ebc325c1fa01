/* masks.h: the masks of a function's values, and arithmetic on masks. A mask that is NULL says that all of a value is defined. */
#ifndef RUN_SERVER_MASKS_H
#define RUN_SERVER_MASKS_H

#include "run/server/values/values.h"

/* What a call of a lifted function returns, register by register. */
typedef struct CallMasks {
    Val slot[CONVENTION_SLOTS];
    u32 count;
} CallMasks;

typedef struct Masks {
    const Isa *isa;
    const ToolOffsets *off;
    LLVMContextRef ctx;
    LLVMModuleRef mod;
    LLVMBuilderRef b;
    Val function, cpu;
    Val first; /* the first instruction that was lifted */
    Convention conv;
    LLVMTypeRef bit, byte, word;
    Val table, state; /* words: where the table of masks begins, and where it has those of the guest's state */
    Val pc, sp;       /* of the instruction that is being looked at */
    Map64 index;      /* from a value to its mask in `all` */
    VEC(Val) all;
    Map64 call_index; /* from a call of a lifted function to its row in `calls` */
    VEC(CallMasks) calls;
    VEC(Val) phis;             /* whose masks are still to be filled in */
    VEC(Val) checked;          /* masks that were looked at in this block */
    u32 tool;                  /* the number of the tool that wants this */
    Val marker, frame;         /* functions: marks of lifted code */
    Val used, clear, undefine; /* the tool's */
} Masks;

/* ------------------------------------------------------------------------------------------------------------- shapes */

/* Integers of the same shape as a type; NULL: values of this type have no masks. */
LLVMTypeRef mask_type(const Masks *m, LLVMTypeRef type);
LLVMTypeRef mask_type_of(const Masks *m, Val v);
Val bits_of(const Masks *m, Val v); /* the value itself in that shape */

Val mask_of(const Masks *m, Val v);
void mask_set(Masks *m, Val v, Val mask); /* NULL is allowed */
Val mask_or_zero(const Masks *m, Val mask, Val v);

/* ---------------------------------------------------------------------------------------------------------- arithmetic */

Val mask_both(const Masks *m, Val a, Val b);                  /* a | b */
Val mask_left(const Masks *m, Val a);                         /* all bits from the lowest one on that is set */
Val mask_any(const Masks *m, Val a);                          /* an i1: is any bit set? */
Val mask_lanes(const Masks *m, Val a, LLVMTypeRef to);        /* all bits of lanes of which any is set */
Val mask_if(const Masks *m, Val condition, LLVMTypeRef type); /* all ones, if the condition holds */
/* The least and the greatest number, without a sign, that a value can be. */
Val value_least(const Masks *m, Val bits, Val mask);
Val value_most(const Masks *m, Val bits, Val mask);

/* values.c: where the table has the mask of what is at an address, which is a word; and a call of one of the tool's functions. */
Val masks_at(const Masks *m, Val address);
void masks_call_tool(const Masks *m, Val function, Val *args, u32 count);

/* frames.c: the function that values_mark_frame calls, and what becomes of such a call. */
Val frames_marker(LLVMModuleRef mod);
void frames_undefine(const Masks *m, Val from, Val to);

/* rules.c: the mask of what an instruction computes from other values, at the builder's position. False: no rule is for it. */
bool rule_apply(Masks *m, Val insn, Val *mask);

#endif
