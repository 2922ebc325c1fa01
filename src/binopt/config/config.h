/* config.h: the configuration of a specialisation: what is known of a function. */
#ifndef BINOPT_CONFIG_H
#define BINOPT_CONFIG_H

#include <binopt.h>

#include "base/base.h"

typedef struct Param {
    BinoptType type;
    bool fixed;
    u64 value; /* the bits of a fixed parameter, zero above its size */
} Param;

typedef struct DeclaredRegion {
    u64 start, end;
    BinoptMemFlags flags;
} DeclaredRegion;

/* Called with the code at each stage as text, and with the messages of the log. */
typedef struct Watcher {
    void (*code)(void *user, const char *stage, const char *text);
    void (*say)(void *user, size_t level, const char *text);
    void *user;
} Watcher;

/* The registers that a result can be in, one bit each (System V ABI for x86-64, 3.2.3). A struct, a complex number or
 * an integer of 128 bits may be in two. */
typedef enum ResultRegs {
    RESULT_RAX = 1,
    RESULT_RDX = 2,
    RESULT_XMM0 = 4,
    RESULT_XMM1 = 8,
    RESULT_SINGLE = 16, /* only the low 32 bits of xmm0: a float */
} ResultRegs;

enum { CONFIG_REASON_BYTES = 512 };

typedef struct BinoptCfg {
    BinoptHandle handle;
    u64 function;
    bool typed;          /* ret and params are valid */
    bool searched;       /* the debug information was searched */
    const char *untyped; /* if that gave no type: the reason */
    BinoptType ret;
    ResultRegs results; /* where the result is, if debug information said so; 0: not known */
    VEC(Param) params;
    VEC(DeclaredRegion) regions; /* if several contain an address, the last one counts */
    size_t stack_bytes, log_level;
    bool fast_math, guard, libraries, nowrap;
    size_t limit_ms;        /* CPU time that LLVM may take */
    bool always;            /* returns a new function even if nothing was gained, for tests */
    char *reason;           /* why the last function was not specialised, by config_refuse; "": it was */
    BinoptFunc made;        /* the last function that was made with this configuration, or NULL */
    const Watcher *watcher; /* NULL: messages go to standard error, up to the log level; outlives the configuration */
    struct BinoptCfg *next; /* the handle's next configuration */
} BinoptCfg;

/* The size of a value in bytes; 0 for void and for numbers that are not a type. */
u32 config_type_bytes(BinoptType type);
bool config_type_is_float(BinoptType type);
bool config_type_is_signed(BinoptType type);
static inline bool config_type_is_pointer(BinoptType type) {
    return type == BINOPT_TY_PTR || type == BINOPT_TY_PTR_NOALIAS;
}

/* The value of a fixed parameter as a whole register. Integers are extended according to their type: compilers rely on
 * that up to 32 bits, although the ABI does not demand it; the rest matters if the parameter is wider than its declared
 * type. */
u64 config_extend(const Param *p);

BinoptCfg *config_new(BinoptHandle handle, u64 function);
BinoptCfg *config_clone(const BinoptCfg *cfg);
void config_free(BinoptCfg *cfg);

/* True if both ask for the same function. What does not change its code (log level, watcher, time limit) does not
 * count. */
bool config_same(const BinoptCfg *a, const BinoptCfg *b);

/* Makes room for `count` parameters, none of them fixed. The caller fills in their types. */
void config_set_type(BinoptCfg *cfg, u32 count, BinoptType ret);

/* The declaration for the bytes at addr: the flags of the last region that contains all of them; BINOPT_MEM_DEFAULT if
 * no region does; BINOPT_MEM_DYNAMIC if the last region that contains some of them does not contain all. */
BinoptMemFlags config_memory(const BinoptCfg *cfg, u64 addr, u64 size);

/* True if somebody wants to see the code, which config_show_code then shows with the name of its stage. */
bool config_wants_code(const BinoptCfg *cfg);
void config_show_code(const BinoptCfg *cfg, const char *stage, const char *text);

/* Records why the function is not specialised, as a phrase that continues "left alone: ": for binopt_spec_reason, and
 * for the log at level 1. */
void config_refuse(const BinoptCfg *cfg, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a message to standard error if the configuration's log level is high enough, or to its watcher. */
void config_log(const BinoptCfg *cfg, size_t level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
