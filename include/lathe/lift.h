/* lathe/lift.h: machine code in, clean LLVM-IR out.
 *
 * A lifted function is an ordinary LLVM function
 *
 *     void f(ptr cpu)
 *
 * that does to the guest state `*cpu` (LatheX86Cpu, LatheRiscv64Cpu or LatheAarch64Cpu, types.h) and to guest memory what the machine code does, then returns.
 * `cpu->pc` says where the guest goes on; `cpu->trap` is LATHE_TRAP_NONE, or says why the instruction at `cpu->pc` was not
 * executed. Guest memory is addressed directly: guest addresses are host addresses.
 *
 * A complete example: the maximum of two integers, lifted from this very process, optimised, compiled and called.
 *
 *     LLVMContextRef ctx = LLVMContextCreate();
 *     LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("demo", ctx);
 *     LatheConfig cfg = { 0 };                           // x86-64, this process's memory, defaults
 *     LatheFunc *fn = lathe_func_new(mod, &cfg);
 *     lathe_func_decode_cfg(fn, (uint64_t)(uintptr_t)max);
 *     LLVMValueRef f = lathe_func_lift(fn, "lifted_max");
 *     lathe_func_free(fn);
 *     LatheJit *jit = lathe_jit_new(NULL);
 *     lathe_jit_add(jit, mod, LATHE_OPT_FULL);           // takes the module
 *     LatheEntry *run = lathe_jit_lookup(jit, "lifted_max");
 *     run(&cpu);                                         // cpu.gp[LATHE_RAX] is the result
 *
 * Threads: there is no global state. Objects made from different LLVM contexts may be used in different threads at once;
 * one object (and everything of one LLVM context) is used by one thread at a time.
 *
 * Errors: functions that can fail return a LatheStatus (negative) or NULL; nothing is ever printed.
 */
#ifndef LATHE_LIFT_H
#define LATHE_LIFT_H

#include <llvm-c/Types.h>

#include "lathe/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A short English sentence for a status; static storage. */
LATHE_API const char *lathe_status_text(LatheStatus status);

/* The name of an architecture, such as "x86-64"; NULL if the library does not have it. They are numbered from 0. */
LATHE_API const char *lathe_arch_name(LatheArch arch);

/* The name of a host, such as "aarch64"; NULL if the library does not have it. They are numbered from 0, which is the own one. */
LATHE_API const char *lathe_host_name(LatheHost host);

/* --------------------------------------------------------------------------------------------------- configuration */

typedef enum LatheCalls {
    LATHE_CALLS_EXIT,   /* a guest call ends the lifted function with pc = the callee */
    LATHE_CALLS_RETURN, /* a guest call is an LLVM call; the function goes on if the callee comes back where it should */
} LatheCalls;

/* The LLVM function that stands for guest code at `pc` (see lathe_declare), or NULL if the caller knows none. */
typedef LLVMValueRef LatheResolve(void *user, uint64_t pc);
typedef bool LatheNeverReturns(void *user, uint64_t callee);

/* Zero means default everywhere. The struct is copied by lathe_func_new; what it points to must outlive the LatheFunc. */
typedef struct LatheConfig {
    LatheArch arch;
    LatheHost host;                /* what code is to be generated for; 0: the machine that this runs on */
    LatheReadMemory *read_memory;  /* NULL: guest addresses are addresses of this process */
    void *user;                    /* handed to the callbacks */
    size_t max_insns;              /* stop discovery there; 0: 100,000 */
    uint64_t code_start, code_end; /* jumps to places outside leave the function; both 0: no such limit */

    /* Position independence: with a symbol, every guest code address in the IR is `symbol + (address - base)`. */
    const char *pic_symbol;
    uint64_t pic_base;

    LatheCalls calls;
    LatheResolve
        *resolve; /* LATHE_CALLS_RETURN: for direct calls, and direct jumps that leave the function; may be NULL */
    LLVMValueRef
        dispatch; /* LATHE_CALLS_RETURN: a lifted function (see lathe_declare) that goes on at cpu->pc, for callees
                              that `resolve` does not know. NULL: calls are as with LATHE_CALLS_EXIT */
    LLVMValueRef
        lookup; /* LATHE_CALLS_RETURN: ptr(ptr cpu, i64 pc, i1 is_call): the lifted function for computed targets;
                              NULL: `dispatch` for calls, and jumps end the function */

    bool keep_flags_at_calls;         /* default: flags are dead at guest calls and returns, as every ABI has it */
    bool no_jump_tables;              /* do not follow indirect jumps through tables of constant memory */
    LatheNeverReturns *never_returns; /* direct calls after which nothing comes; may be NULL */
    bool strict_fp; /* exact NaNs, rounding modes and exception flags; implied where the code sets their register */
    bool exact_unsupported; /* refuse to lift (LATHE_ERR_UNSUPPORTED) instead of an exit with LATHE_TRAP_UNSUPPORTED */

    /* Overrides: functions of the caller's module, void(ptr cpu), called with the whole state in *cpu and pc after the
     * instruction. NULL: syscall ends the function with LATHE_TRAP_SYSCALL; cpuid and friends use the host's own. */
    LLVMValueRef on_syscall, on_cpuid, on_rdtsc, on_rdtscp, on_xgetbv, on_rdrand, on_rdseed, on_rdpid;

    /* Markers, called if not NULL; declared by the caller in the same module. */
    LLVMValueRef mark_insn;  /* void(i64 pc, i32 size)             before each instruction */
    LLVMValueRef mark_block; /* void(i64 pc, i32 instructions)     at the head of each block */
    LLVMValueRef
        mark_memory; /* void(i64 pc, ptr address, i32 size, i32 kind)   before each access; kind 1 load, 2 store,
                                 3 both */

    /* Gives each IR instruction a debug location whose line tells of which guest instruction it was made (lathe_func_line), also when it is optimised and in the line tables
     * of objects and assembly. The code has the same instructions; those that save registers may come in another order, since LLVM describes frames then. */
    bool mark_lines;

    const struct LatheTuning *tuning; /* for Lathe's own commands; NULL */
} LatheConfig;

/* -------------------------------------------------------------------------------------------------------- lifting */

typedef struct LatheFunc LatheFunc;

/* A unit of guest code to be lifted into `mod` (which keeps its owner). NULL if cfg->arch or cfg->host is unknown, or the host lacks
 * what cfg asks for. */
LATHE_API LatheFunc *lathe_func_new(LLVMModuleRef mod, const LatheConfig *cfg);
LATHE_API void lathe_func_free(LatheFunc *fn);

/* Add one instruction, one basic block, or everything that direct jumps and jump tables reach from `pc`. The first address
 * added is the function's entry. Instructions are added once. On failure nothing of this call is added, except that
 * unreadable or undecodable code in the middle of a graph becomes an exit and is no failure (see lathe_func_problem). */
LATHE_API LatheStatus lathe_func_decode_insn(LatheFunc *fn, uint64_t pc);
LATHE_API LatheStatus lathe_func_decode_block(LatheFunc *fn, uint64_t pc);
LATHE_API LatheStatus lathe_func_decode_cfg(LatheFunc *fn, uint64_t pc);

/* Lift what was decoded into a function called `name`. NULL on failure (lathe_func_problem says why); the module is then as
 * before. Call once. */
LATHE_API LLVMValueRef lathe_func_lift(LatheFunc *fn, const char *name);

/* A declaration, in `mod`, of a lifted function. */
LATHE_API LLVMValueRef lathe_declare(LLVMModuleRef mod, const LatheConfig *cfg, const char *name);

typedef struct LatheProblem {
    LatheStatus status; /* LATHE_OK: none */
    uint64_t pc;        /* the instruction concerned */
    const char *text;   /* what, for people; lives as long as the LatheFunc */
} LatheProblem;

/* The first thing that could not be decoded or lifted. Such places are exits with a trap unless lifting failed. */
LATHE_API LatheProblem lathe_func_problem(const LatheFunc *fn);

/* ---------------------------------------------------------------------------------------- looking at what was decoded */

/* The guest byte ranges the result depends on (instructions and jump tables), sorted, disjoint; owned by fn. */
LATHE_API size_t lathe_func_ranges(LatheFunc *fn, const LatheRange **ranges);

typedef struct LatheBlock {
    uint64_t start, end;
    const uint64_t *insns; /* addresses */
    size_t insn_count;
    const uint64_t *successors; /* blocks of this function */
    size_t successor_count;
    bool exits;       /* may also leave the function */
    bool jump_table;  /* ends with a jump through a table that was recovered */
    bool unsupported; /* ends with an instruction that is not supported: the function leaves there */
} LatheBlock;

LATHE_API size_t lathe_func_block_count(const LatheFunc *fn);
LATHE_API LatheBlock lathe_func_block(const LatheFunc *fn, size_t index);

/* The address of the guest instruction that a line of LatheConfig.mark_lines stands for; 0 if it stands for none, as line 0 does. */
LATHE_API uint64_t lathe_func_line(const LatheFunc *fn, uint32_t line);

/* One instruction as text, as disassemblers print it. Returns its size in bytes or a negative LatheStatus. */
LATHE_API int lathe_disassemble(const LatheConfig *cfg, uint64_t pc, char *text, size_t text_size);

/* --------------------------------------------------------------------------------- floating point of riscv64 guests */

/* Lifted riscv64 code has the guest's rounding mode and exception flags in the host's own register. Around a call of it: gives
 * the host the guest's mode and no flags, and returns what the host had; then takes the flags, and gives that back. */
LATHE_API uint32_t lathe_riscv64_enter(const LatheRiscv64Cpu *cpu);
LATHE_API void lathe_riscv64_leave(LatheRiscv64Cpu *cpu, uint32_t host);

/* ----------------------------------------------------------------------------------------------- what is supported */

typedef struct LatheSupport {
    const char *mnemonic;
    const char *flags;     /* effect on ODISZAPC: - keeps, m modifies, u leaves undefined, 0/1 sets,
                              x modifies, undefined for some operands; NULL: the architecture has no flags */
    const char *deviation; /* where the lifted code may differ from the CPU; NULL: nowhere known */
} LatheSupport;

/* The supported instructions, by index from 0 until false is returned; deviations are those of code for that host. */
LATHE_API bool lathe_support(LatheArch arch, LatheHost host, size_t index, LatheSupport *row);

/* ------------------------------------------------------------------------------------------- optimising, compiling */

typedef enum LatheOpt {
    LATHE_OPT_NONE,  /* as lifted */
    LATHE_OPT_QUICK, /* a short pipeline */
    LATHE_OPT_FULL,  /* LLVM's O2-class pipeline */
    LATHE_OPT_MAX,   /* O3 with vectorisation */
} LatheOpt;

typedef void LatheEntry(void *cpu);

/* Compiles modules into this process. Holds LLVM's target machine and pass managers alive between modules. */
typedef struct LatheJit LatheJit;

typedef struct LatheJitConfig {
    LatheHost host; /* what code is for; that for another machine than the own can be emitted only */
    const char *
        cpu; /* an LLVM CPU name; NULL: this machine's, or of a host named above a common one. On x86-64, lifted code of its kind needs
                             x86-64-v2 at least */
    const char *features; /* LLVM feature string; NULL: those of the CPU, without AVX-512 */
    bool low_vectors; /* x86: no AVX, so that code changes bits 0–127 of vector registers and leaves all others alone */
    /* Where an undefined symbol of a module lives; NULL or a NULL result: dlsym. */
    void *(*symbol)(void *user, const char *name);
    void *user;
} LatheJitConfig;

LATHE_API LatheJit *lathe_jit_new(const LatheJitConfig *cfg);
LATHE_API void lathe_jit_free(LatheJit *jit); /* the code goes with it */

/* Run a pass pipeline over a module; IR stays valid IR. */
LATHE_API LatheStatus lathe_jit_optimize(LatheJit *jit, LLVMModuleRef mod, LatheOpt level);

/* From now on `step` is called after each pass over a module or a part of it, with the pass's name as `opt` has it. It may give values names, and change
 * nothing else. NULL: it is no longer called. */
typedef void LatheStep(void *user, const char *pass, LLVMModuleRef mod);
LATHE_API void lathe_jit_watch(LatheJit *jit, LatheStep *step, void *user);

/* Optimise, compile and link a module; takes the module, also on failure. */
LATHE_API LatheStatus lathe_jit_add(LatheJit *jit, LLVMModuleRef mod, LatheOpt level);

/* Link an object that lathe_jit_emit made, here or elsewhere. It keeps its owner. */
LATHE_API LatheStatus lathe_jit_add_object(LatheJit *jit, const void *object, size_t size);

/* The address of a function defined by an added module; NULL if there is none. */
LATHE_API void *lathe_jit_lookup(LatheJit *jit, const char *name);

/* The machine code of an added function, for looking at: its first byte and its size. */
LATHE_API const void *lathe_jit_code(LatheJit *jit, const char *name, size_t *size);

/* Optimise if asked and emit an object file (or assembly text) into malloc'ed memory. Does not take the module. */
LATHE_API LatheStatus lathe_jit_emit(LatheJit *jit, LLVMModuleRef mod, LatheOpt level, bool assembly, void **data,
                                     size_t *size);

/* ------------------------------------------------------------------------------------------- C signatures (SysV ABI) */

/* A function that can be called as C with the signature `sig`, around `lifted`: the guest registers come from the arguments,
 * the guest stack is `stack_bytes` of the host's (0: 4096), the result is the guest's return value. The lifted function
 * becomes internal to the module and is inlined into the wrapper when the module is optimised. `sig` is the result followed
 * by at most 64 arguments: 'v' void, 'i' 32-bit, 'l' 64-bit integer, 'p' pointer, 'f' float, 'd' double; for example "dpi"
 * is double(ptr, int). NULL if `sig` makes no sense. */
LATHE_API LLVMValueRef lathe_wrap_sysv(LLVMValueRef lifted, LatheArch arch, const char *name, const char *sig,
                                       size_t stack_bytes);

#ifdef __cplusplus
}
#endif
#endif
