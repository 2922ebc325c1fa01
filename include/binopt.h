/* binopt.h: an application makes faster versions of its own compiled functions from what it knows at run time.
 *
 * A function is configured (its signature, the parameters and the memory that will not change) and specialised; the result
 * has the same signature and is called instead. A complete example:
 *
 *     int func(int a, int b) { return a - b; }
 *
 *     BinoptHandle h = binopt_init();
 *     BinoptCfgRef bc = binopt_cfg_new(h, (BinoptFunc)func);
 *     binopt_cfg_type(bc, 2, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32);   // int(int, int)
 *     binopt_cfg_set_parami(bc, 1, 42);
 *     int (*spec)(int, int) = (int (*)(int, int))binopt_spec_create(bc);
 *     spec(48, 16);                                                                // 6: uses 42, not 16
 *     binopt_fini(h);                                                              // spec is gone
 *
 * Nothing here fails: what cannot be made faster, or may not be, comes back as it was (binopt_spec_reason says why). A caller
 * therefore has to pass the fixed values at each call: the original, if that is what came back, uses them.
 *
 * Who does the work is a rewriter: the environment variable BINOPT_DRIVER names one of those in the library: llvm, which is the
 * default; tiered; trace and function, which work on machine code and are done much sooner; none. A program that is linked with
 * libbinopt-machine instead of libbinopt has trace, function and none, and no LLVM; with libbinopt-none it has only the one that
 * changes nothing.
 *
 * Specialisations are kept in the process: the same again costs next to nothing. With the environment variable BINOPT_CACHE, which
 * names a directory, those of llvm are kept for later runs, too.
 *
 * Threads: a handle and what belongs to it is used by one thread at a time; different handles by different threads at once.
 * Specialised functions may be called from any thread.
 *
 * Processes: after fork() the child may call what was made before. With its parent's handles nothing new is made in it, the functions
 * themselves come back; a handle of its own makes new ones. A program may end in any way at any time, also without binopt_fini and while
 * other threads are in here; what asks for a function from then on gets the original. fork() and the end of the process
 * wait for LLVM if that is at work, usually for some milliseconds.
 *
 * Libraries: libbinopt, or the library that it is linked into, stays loaded once llvm or tiered was used. A library whose functions are
 * specialised may be unloaded at any time; what was made from them may then not be called any more.
 */
#ifndef BINOPT_H
#define BINOPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BINOPT_API __attribute__((visibility("default")))

/* The name of the rewriter, "Default (no rewriting)" for the one that changes nothing; static storage. */
BINOPT_API const char *binopt_driver(void);

/* -------------------------------------------------------------------------------------------------------------- handles */

typedef struct BinoptOpaqueHandle *BinoptHandle;

BINOPT_API BinoptHandle binopt_init(void);

/* Frees the handle, its configurations and the functions that were made with it: none of them may be running. */
BINOPT_API void binopt_fini(BinoptHandle handle);

/* ------------------------------------------------------------------------------------------------------- configurations */

typedef struct BinoptCfg *BinoptCfgRef;
typedef void *BinoptFunc;

/* A configuration for a function that follows the C calling convention of this machine. Its signature comes from debug
 * information if the file has any, or from binopt_cfg_type. Lives until it or the handle is freed. */
BINOPT_API BinoptCfgRef binopt_cfg_new(BinoptHandle handle, BinoptFunc base_func);

/* An independent configuration with the same contents, for the same handle. */
BINOPT_API BinoptCfgRef binopt_cfg_clone(BinoptCfgRef base_cfg);
BINOPT_API void binopt_cfg_free(BinoptCfgRef cfg);

typedef enum {
    BINOPT_TY_VOID = 0,
    BINOPT_TY_INT8,
    BINOPT_TY_INT16,
    BINOPT_TY_INT32,
    BINOPT_TY_INT64,
    BINOPT_TY_UINT8,
    BINOPT_TY_UINT16,
    BINOPT_TY_UINT32,
    BINOPT_TY_UINT64,
    BINOPT_TY_FLOAT,
    BINOPT_TY_DOUBLE,
    BINOPT_TY_PTR,
    BINOPT_TY_PTR_NOALIAS, /* nothing else that the function accesses overlaps with what is accessed through it */
} BinoptType;

/* The signature: the type of the result, then of `count` parameters. Functions with a variable number of arguments are not
 * supported. Setting it again forgets fixed parameters.
 *
 * Parameters are counted as the calling convention passes them: a struct that is passed in two registers is two parameters, one that is
 * passed on the stack as many as it has words of 8 bytes; a struct that is returned in memory has its address for the first parameter.
 * Parameters behind the declared ones reach the function as they are if they are in registers; one that uses more of the stack is left alone.
 *
 * A result of 8 bytes (INT64, UINT64, PTR, DOUBLE) may be more than was declared: a struct of two words, a complex number, an integer of 128
 * bits. All of it comes back: rax, rdx and the low halves of xmm0 and xmm1, except what holds no result by the debug information of the
 * function, or as nothing was written to it. That may cost a little, as when the remainder of a division is computed for nothing; debug
 * information spares it. BINOPT_TY_VOID, FLOAT and the integers of less than 8 bytes are taken at their word: nothing else comes back
 * (of these integers the whole register). What is returned otherwise (long double, vectors) is not supported. */
BINOPT_API void binopt_cfg_type(BinoptCfgRef cfg, unsigned count, BinoptType ret, ...);

typedef enum {
    /* Undefined flag value. Do not use. */
    BINOPT_F_UNDEF = 0,
    /* Maximum stack size of optimised code in bytes; functions that need more are left alone. 65536 unless set. */
    BINOPT_F_STACKSZ,
    /* Not 0: floating-point arithmetic as if it were that of real numbers, as -ffast-math. */
    BINOPT_F_FASTMATH,
    /* What is said on standard error: 0 nothing, 1 why a function was left alone, 2 what was done, 3 the code on its way. The
     * default is what the environment variable BINOPT_LOGLEVEL says, or 0. */
    BINOPT_F_LOGLEVEL,

    /* Not 0: the new function compares the fixed parameters at each call, and if one has another value the original runs. */
    BINOPT_F_GUARD = 64,
    /* Not 0: functions of the C library and its kin are rewritten and inlined, too, where they are called directly. */
    BINOPT_F_LIBRARIES,
    /* Not 0: signed 32-bit numbers that are used as indices do not overflow while they are computed. C promises it of `int`, but
     * machine code does not say what was an int: an unsigned number that is meant to wrap and then is an index breaks it. */
    BINOPT_F_NOWRAP,
} BinoptOptFlags;

/* Set a flag; unknown ones are ignored. */
BINOPT_API void binopt_cfg_set(BinoptCfgRef cfg, BinoptOptFlags flag, size_t val);

/* Fix the parameter idx (from 0, below the number of parameters) to the value at `val`, which has the parameter's size. Callers pass it all the same: it may be
 * the original that runs. */
BINOPT_API void binopt_cfg_set_param(BinoptCfgRef cfg, unsigned idx, const void *val);
/* Fix an integer parameter. */
BINOPT_API void binopt_cfg_set_parami(BinoptCfgRef cfg, unsigned idx, size_t val);

typedef enum {
    /* By the page mapping: read-only pages are constant, what is writable or not mapped is not. */
    BINOPT_MEM_DEFAULT = 0,
    /* Constant: not modified from now until the last call of the rewritten code. */
    BINOPT_MEM_CONST,
    /* Constant, and so is everything that pointers loaded from it lead to, and from there. */
    BINOPT_MEM_NESTED_CONST,
    /* May change, whatever else is known of it. */
    BINOPT_MEM_DYNAMIC,
} BinoptMemFlags;

/* What holds for a region of memory. Of several that overlap the last one counts. */
BINOPT_API void binopt_cfg_mem(BinoptCfgRef cfg, void *base, size_t size, BinoptMemFlags flags);

/* Fix a pointer parameter, and say what holds for the memory it points to. */
BINOPT_API void binopt_cfg_set_paramp(BinoptCfgRef cfg, unsigned idx, const void *ptr, size_t size,
                                      BinoptMemFlags flags);

/* ------------------------------------------------------------------------------------------------------ specialisation */

/* A version of the function for the configuration, or the function itself. Lives until it is deleted or the handle is freed.
 * Equal configurations may give the same function. The first calls of it are timed: some of them run the original, and if that is faster, all later ones do. */
BINOPT_API BinoptFunc binopt_spec_create(BinoptCfgRef cfg);

/* Why the last binopt_spec_create with this configuration gave the function itself: a sentence for people that says what was met, and where;
 * NULL if it gave another one. Also that the original has turned out to be faster; and of tiered, why it does not lead to what llvm makes, or does not yet. It belongs to the
 * configuration, until this is asked again, specialised again or freed. */
BINOPT_API const char *binopt_spec_reason(BinoptCfgRef cfg);

/* The function is no longer needed, and is not running. What was created several times goes when it was deleted as often. One that
 * the handle did not make is ignored. */
BINOPT_API void binopt_spec_delete(BinoptHandle handle, BinoptFunc spec_func);

#ifdef __cplusplus
}
#endif
#endif
