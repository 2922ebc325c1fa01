/* unit.h: one specialisation on its way through LLVM.
 *
 * The function is lifted with every function it calls directly, put behind its C signature with the fixed values as
 * constants, and simplified. Calls that stay calls to machine code, and computed ones whose target is not known yet, are
 * *calls out* (callout.h): they take the registers of the calling convention by value, so that the guest state dissolves
 * although they are there. In rounds, loads from constant memory become constants (fold.h), and calls out whose target has
 * become one become lifted code (lift.h). When nothing changes any more the optimiser does its part and what is left of the
 * calls out becomes machine calls (lower.h).
 */
#ifndef BINOPT_LLVM_UNIT_H
#define BINOPT_LLVM_UNIT_H

#include "binopt/config/config.h"
#include "binopt/llvm/store/store.h"
#include "binopt/process/maps.h"
#include "ir/ir.h"
#include "isa/isa.h"

/* A function that was lifted, or is being lifted, and how many instructions it has with all that is inlined into it. */
typedef struct Lifted {
    u64 pc;
    Val entry;
    size_t insns;
    bool astray;       /* it changes its return address: nobody but the original can call it */
    bool calls_astray; /* it calls such a function, or a thunk */
    bool is_thunk;     /* perhaps: it calls such a function */
} Lifted;

typedef struct Unit {
    const BinoptCfg *cfg;
    LatheJit *jit;
    const Isa *isa;
    Maps maps;
    LLVMContextRef ctx;
    LLVMModuleRef mod;
    Lifter l;        /* for building IR of our own */
    Val spec;        /* the function that is made */
    u64 symbol_base; /* what the symbols of known addresses stand for, once there are any: see fold.c */
    Val callout[2];  /* by CallShape */
    Val leave[2];    /* void(ptr cpu): a call out */
    Val lookup;      /* ptr(ptr, i64, i1): always leave[CALL_ABI]; NULL: these are to be made */
    Map64 lifted;    /* by pc: index + 1 in `functions`; 0: it cannot be lifted */
    Map64 astray;    /* by pc: those that change their return address, and thunks: lift.c */
    VEC(Lifted) functions;
    VEC(Lifted) lifting;   /* those under way: a call to one of them is recursion */
    ResultRegs results;    /* that are kept of the function itself; set when it is lifted */
    Map64 stack_arguments; /* by pc: whether machine code that is called may have arguments on the stack */
    Map64 returns;         /* the addresses after the calls in lifted code */
    size_t insns;          /* lifted so far */
    size_t may_grow;       /* by so many instructions, where loops over tables are unrolled */
    size_t inlined;        /* the same, those that are there several times counted as often */
    u64 stack_bytes;       /* that lifted code needs at most */
    u64 made_bytes;        /* of the guest's stack as long as that is not known */
    u64 fitted_bytes;      /* of the guest's stack as it was allocated in the end */
    Depends depends;       /* what was read on the way */
    const char *why;       /* the last function could not be lifted */
    const char *hopeless;  /* why nothing will come of it, or NULL */
    bool guessed;          /* likely targets of calls have been looked for */
    bool vectorized;       /* LLVM's own vectors are in it by now */
    double start;          /* ms of CPU time when it began */
    double stage_start;    /* the same of the current stage, for the log */
    Arena arena;
} Unit;

#endif
