/* tuning.h: what Lathe's own commands tell the lifter besides the public LatheConfig (lathe/lift.h), by its member `tuning`. Zero means default
 * everywhere. */
#ifndef IR_TUNING_H
#define IR_TUNING_H

#include <lathe/lift.h>

#include "base/base.h"
#include "tool/package.h"

typedef enum LatheConvention {
    LATHE_CONVENTION_STATE,     /* void(ptr cpu): every register is in *cpu at the borders of lifted functions */
    LATHE_CONVENTION_REGISTERS, /* the hottest registers are arguments and results: see docs/convention.md */
} LatheConvention;

/* Is guest code at `pc` no part of the function? */
typedef bool LatheIsOutside(void *user, u64 pc);

/* Does nothing come after the call `in`, with those instructions of `fn` before it that were decoded so far? */
struct Insn;
typedef bool LatheEndsAt(void *user, const LatheFunc *fn, const struct Insn *in);

/* Could the entry at `at` be of a table of jumps that leads to `to`? */
typedef bool LatheIsEntry(void *user, u64 at, u64 to);

/* Where in `fn` the computed jump `in`, which has no table, may lead to; how many places these are. They live as long as `user`. */
typedef size_t LatheLabels(void *user, const LatheFunc *fn, const struct Insn *in, const u64 **places);

/* Where the call `in` goes on if the callee throws: Insn.landing. */
typedef u64 LatheLanding(void *user, const struct Insn *in);

typedef struct LatheTuning {
    LatheConvention convention;
    bool narrow; /* LATHE_CONVENTION_REGISTERS: see func_vectors in lift/func.h */
    LatheIsOutside
        *is_outside;        /* asked of each pc that discovery comes to, besides code_start and code_end; may be NULL */
    LatheEndsAt *ends_at;   /* asked of each call, besides never_returns; may be NULL */
    LatheIsEntry *is_entry; /* where no comparison bounds a table; may be NULL */
    LatheLabels *labels;    /* may be NULL: nobody knows */
    LatheLanding *landing;  /* asked of each call; may be NULL: nothing is thrown */
    LLVMValueRef
        threw; /* with `landing`, i1(i64 end): called behind a call that has one, with the address behind it, to ask whether the callee has thrown */
    u32 poll_off; /* offset from `cpu`: if the 64 bits there are not 0, loops return, with cpu->pc at their head; 0: never */
    bool
        leave_at_flags; /* a call whose flags are read behind it, or whose callee begins by reading flags, has no meaning: the function leaves at it
                             with LATHE_TRAP_UNSUPPORTED */
    bool
        plain_only; /* what needs other state than general and vector registers and flags (x87, mxcsr, segments, system calls), or has no
                             meaning here, is left to `dispatch`, with cpu->pc at it */
    bool
        jumps_return; /* LATHE_CALLS_RETURN: jumps that leave the function return, whatever is known of their targets */
    bool
        trusted_returns; /* LATHE_CALLS_RETURN: callees come back where they should: nobody looks at cpu->pc after a call */
    bool
        half_phis; /* 32-bit halves of registers are merged by themselves: loops over 32-bit counters look like those that compilers
                             make */
    bool
        many_ways; /* a function may have very many computed jumps with very many places: the ways between them are not limited as usual */
    bool native_fs;      /* the guest's fs is the host's own, on hosts that have such; its gs is always in the state */
    bool full_addresses; /* accesses by fs have their addresses computed all the same */
    bool
        native_traps; /* the code runs on a CPU of the guest's kind, whose traps are the guest's own: a division may stay one */
    bool
        exact_faults; /* on hosts that can: a memory access that faults can leave the function with LATHE_TRAP_FAULT and the state from before its
                             instruction. Section LATHE_FAULTS of the object has a row of two 32-bit distances, each from its own place, for
                             each access: to the host's instruction, and to where the handler of the fault goes on */
    bool
        own_frame; /* with LATHE_CONVENTION_REGISTERS: tells LLVM what is on the function's own part of the guest stack: lift/frame.c */
    const struct LiftWatch *watch; /* lift/watch.h: who watches each instruction; NULL: nobody does */
    const ToolCell *cells;         /* what each instruction that has a meaning adds to */
    u32 cell_count;
} LatheTuning;

/* Never NULL. */
static inline const LatheTuning *tuning_of(const LatheConfig *cfg) {
    static const LatheTuning none;
    return cfg && cfg->tuning ? cfg->tuning : &none;
}

#endif
