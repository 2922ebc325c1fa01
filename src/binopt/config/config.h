/* config.h: what is known of a function that is to be specialised. */
#ifndef BINOPT_CONFIG_H
#define BINOPT_CONFIG_H

#include <binopt.h>

#include "base/base.h"

typedef struct Param {
    BinoptType type;
    bool fixed;
    u64 value; /* the bits of a fixed one, zero above its size */
} Param;

typedef struct Region {
    u64 start, end;
    BinoptMemFlags flags;
} Region;

/* Who wants to see the code on its way as text, and what is said about it. */
typedef struct Watcher {
    void (*code)(void *user, const char *stage, const char *text);
    void (*say)(void *user, size_t level, const char *text);
    void *user;
} Watcher;

/* The registers that a result can be in, one bit each (System V ABI for x86-64, 3.2.3): a struct, a complex number or an integer
 * of 128 bits may have two. */
typedef enum ResultRegs {
    RESULT_RAX = 1,
    RESULT_RDX = 2,
    RESULT_XMM0 = 4,
    RESULT_XMM1 = 8,
    RESULT_SINGLE = 16, /* of xmm0 only the low 32 bits: a float */
} ResultRegs;

enum { CONFIG_REASON_BYTES = 512 };

typedef struct BinoptCfg {
    BinoptHandle handle;
    u64 function;
    bool typed;          /* ret and params hold */
    bool searched;       /* debug information was asked */
    const char *untyped; /* what it lacks, if it was of no help */
    BinoptType ret;
    ResultRegs results; /* where the result is, if debug information said so; 0: it is not known */
    VEC(Param) params;
    VEC(Region) regions; /* the last one that has an address counts */
    size_t stack_bytes, log_level;
    bool fast_math, guard, libraries, nowrap;
    size_t limit_ms;        /* of CPU time that LLVM may take for it */
    bool always;            /* a new function comes back even if nothing was gained: for tests of how it is made */
    char *reason;           /* why the last one was left alone, by config_refuse; "": it was not */
    BinoptFunc made;        /* the last one that was made with it; NULL: none */
    const Watcher *watcher; /* NULL: standard error, as far as the log level goes; outlives the configuration */
    struct BinoptCfg *next; /* of the handle */
} BinoptCfg;

/* Bytes of a value; 0 for void and what is no type. */
u32 config_type_bytes(BinoptType type);
bool config_type_is_float(BinoptType type);
bool config_type_is_signed(BinoptType type);
static inline bool config_type_is_pointer(BinoptType type) {
    return type == BINOPT_TY_PTR || type == BINOPT_TY_PTR_NOALIAS;
}

/* The value of a fixed parameter as a whole register: integers are extended as their type says. Compilers rely on that up to 32 bits, though
 * the ABI does not say so; the rest matters if the parameter is wider than its declared type. */
u64 config_extend(const Param *p);

BinoptCfg *config_new(BinoptHandle handle, u64 function);
BinoptCfg *config_clone(const BinoptCfg *cfg);
void config_free(BinoptCfg *cfg);

/* Do both ask for the same function? What is said on the way does not count. */
bool config_same(const BinoptCfg *a, const BinoptCfg *b);

/* Makes room for `count` parameters, none fixed; their types are to be filled in. */
void config_set_type(BinoptCfg *cfg, u32 count, BinoptType ret);

/* What was declared for the bytes at addr: the flags of the last region that has all of them; BINOPT_MEM_DEFAULT if none was,
 * BINOPT_MEM_DYNAMIC if the last region that has some of them has not all. */
BinoptMemFlags config_memory(const BinoptCfg *cfg, u64 addr, u64 size);

/* Is anyone interested in the code itself? Then it is shown, with the stage that it is at. */
bool config_wants_code(const BinoptCfg *cfg);
void config_show_code(const BinoptCfg *cfg, const char *stage, const char *text);

/* Why the function is left alone, as a sentence that goes on after "left alone: ": kept for binopt_spec_reason, and said at level 1. */
void config_refuse(const BinoptCfg *cfg, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says something on standard error if the configuration asks for that level, or to its watcher. */
void config_log(const BinoptCfg *cfg, size_t level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
