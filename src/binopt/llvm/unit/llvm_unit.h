/* llvm_unit.h: one specialisation on its way through LLVM.
 *
 * The function is lifted together with every function it calls directly, wrapped in its C signature with the fixed values as constants, and
 * simplified. Calls to machine code, and computed calls whose target is not known yet, are *calls out* (callout.h): they take the registers
 * of the calling convention by value, so that the guest state can be optimised away in spite of them. In rounds, loads from constant memory
 * become constants (fold.h), and calls out whose target has become a constant become lifted code (lift.h). When nothing changes any more,
 * the optimiser does its part, and the remaining calls out become machine calls (lower.h).
 */
#ifndef BINOPT_LLVM_UNIT_H
#define BINOPT_LLVM_UNIT_H

#include "binopt/config/config.h"
#include "binopt/llvm/store/store.h"
#include "binopt/process/maps.h"
#include "ir/ir.h"
#include "isa/isa.h"

/* A function that was lifted or is being lifted, and its number of instructions, including all that is inlined into it. */
typedef struct Lifted {
    u64 pc;
    Val entry;
    size_t insns;
    bool astray;       /* it changes its return address: only the original can call it */
    bool calls_astray; /* it calls such a function, or a thunk */
    bool is_thunk;     /* it may be a thunk: it calls such a function */
} Lifted;

typedef struct LlvmUnit {
    const BinoptCfg *cfg;
    LatheJit *jit;
    const Isa *isa;
    Maps maps;
    LLVMContextRef ctx;
    LLVMModuleRef mod;
    Lifter l;        /* builds IR */
    Val spec;        /* the function that is being made */
    u64 symbol_base; /* the number that the symbols of known addresses stand for, when there are any: see fold.c */
    Val callout[2];  /* by CallShape */
    Val leave[2];    /* void(ptr cpu): a call out */
    Val lookup;      /* ptr(ptr, i64, i1): always returns leave[CALL_ABI]; NULL: both have to be made */
    Map64 lifted;    /* by pc: index in `functions` + 1; 0: cannot be lifted */
    Map64 astray;    /* by pc: functions that change their return address, and thunks: see lift.c */
    VEC(Lifted) functions;
    VEC(Lifted) lifting;   /* functions being lifted: a call to one of them is recursion */
    ResultRegs results;    /* the registers of the function's result that are kept; set when it is lifted */
    Map64 stack_arguments; /* by pc: true if machine code that is called may have arguments on the stack */
    Map64 returns;         /* the return addresses of calls in lifted code */
    size_t insns;          /* lifted so far */
    size_t may_grow;       /* by how many instructions unrolling of loops over tables may enlarge the function */
    size_t inlined;        /* lifted so far, those that are inlined several times counted each time */
    u64 stack_bytes;       /* the most that lifted code needs */
    u64 made_bytes;        /* size of the guest's stack while the needed size is not known */
    u64 fitted_bytes;      /* size of the guest's stack as it was allocated in the end */
    Depends depends;       /* the memory that was read */
    const char *why;       /* why the last function could not be lifted */
    const char *hopeless;  /* why the specialisation is given up, or NULL */
    bool guessed;          /* likely targets of calls were searched */
    bool vectorized;       /* LLVM's vectoriser has run */
    double start;          /* CPU time in ms when it began */
    double stage_start;    /* likewise for the current stage, for the log */
    Arena arena;
} LlvmUnit;

#endif
