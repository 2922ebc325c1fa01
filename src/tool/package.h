/* package.h: a tool as it is built (build.c), and as the client loads it: one file. Several tools that are used together are one package.
 *
 *     ToolPackage              sizes of all that follows
 *     ToolPlan[hook_count]     what the tool's functions do, hook by hook
 *     object                   an ELF object of the host's kind: the tool's functions, its data, and lathe_hooks
 *     bitcode                  the same as LLVM-IR, for code that LLVM makes
 *     inputs                   the paths of the files that it was made of, each with a zero behind it
 *
 * What a hook says itself (its event, its values) is in lathe_hooks, a LatheHook for each, ended by LATHE_NOTHING. */
#ifndef TOOL_PACKAGE_H
#define TOOL_PACKAGE_H

#include "base/base.h"
#include "lathe/tool.h"

#define TOOL_HOOKS "lathe_hooks" /* the symbol of the array of hooks */
#define TOOL_PREFIX "tool."      /* of all other symbols, */
#define TOOL_DATA_PREFIX                                                                                               \
    TOOL_PREFIX ":" /* of those that are no functions; the number of the tool follows, from 1 on, and a dot */

/* A section of objects with functions of a tool in them: for each access to memory of the tool's that LLVM has put among the program's instructions, the distance to it from the place of the
 * distance itself, as 32 bits. */
#define TOOL_ACCESSES "lathe_tool"

/* The version of a function that keeps registers (tool/keep.h): this behind its name. */
#define TOOL_KEEPS ".k"

/* Functions that are told how many bytes an access has have variants in the object for 1, 2, 4 and so on, in which that is a constant. */
enum { TOOL_VARIANT_MOST = 32, TOOL_VARIANT_NAME = 100 };
static inline void tool_variant_name(char name[TOOL_VARIANT_NAME], const char *function, u32 bytes) {
    size_t len = strlen(function);
    len = len < TOOL_VARIANT_NAME - 5 ? len : TOOL_VARIANT_NAME - 5;
    memcpy(name, function, len);
    memcpy(name + len, ".b", 2);
    name[len + 2] = (char)('0' + bytes / 10);
    name[len + 3] = (char)('0' + bytes % 10);
    name[len + 4] = 0;
}

enum { TOOL_MAGIC = 0x6c6f6f74, TOOL_VERSION = 8 };
enum { TOOLS_MAX = 8 }; /* in a package */

/* What the client is told about the tools of a package, as one text: NAME,key=value,key=value for each, and this behind all but the last. */
#define TOOL_OPTIONS_DIVIDER '\x1e'
enum { TOOL_OPTIONS_SIZE = 1024 };

enum { TOOL_HOOKS_MAX = 63, TOOL_COUNTERS_MAX = 512, TOOL_ADDS = 4 };
enum { TOOL_CELLS = 8 };   /* of a counter, in each thread; LATHE_COUNTED_WORDS if a hook asks for it */
enum { TOOL_COUNTS = 16 }; /* different counters that instructions are counted by */
enum {
    TOOL_TABLES_MAX = 64,
    TOOL_ROWS_MAX = 1 << 21
};                           /* LatheTables of a package, and rows of all of them in a process */
enum { TOOL_RUN_ROWS = 64 }; /* most additions to rows of instructions that are counted together */
enum { TOOL_ADDRESSES = 5 }; /* accesses of an instruction: INSN_ACCESSES of isa/view.h */

typedef struct ToolPackage {
    u32 magic, version;
    u64 identity; /* of what it was built from: all files, and the builder */
    u32 hook_count;
    u32 counter_count; /* with number 0, which no counter has */
    u32 table_count;   /* likewise */
    u32 reserved;
    u64 object_size, bitcode_size, inputs_size;
    u64 without;  /* ToolWithout, and */
    u64 off;      /* a bit for each hook that the tool's options leave out: set by the client in its copy */
    u64 checksum; /* pack_hash of all that follows */
} ToolPackage;

/* --no-tool-opt: what is not done with the functions of tools, to see what it gains. */
typedef enum ToolWithout {
    TOOL_WITHOUT_NOTHING,
    TOOL_WITHOUT_ALL,     /* they are called, and not looked into */
    TOOL_WITHOUT_COUNTER, /* those that only count are functions like all others */
    TOOL_WITHOUT_MERGE,   /* quick code has an addition for each instruction */
    TOOL_WITHOUT_INLINE,  /* they are called */
    TOOL_WITHOUT_SPLIT,   /* those with rare parts, which call others, are called as a whole */
    TOOL_WITHOUT_KEEP,    /* optimised code calls them as C functions, which keep few registers */
} ToolWithout;

typedef enum ToolKind {
    TOOL_CALL,  /* anything: it is called */
    TOOL_COUNT, /* only adds to counters what is known when code is translated, and constants to rows of tables whose keys are known then */
} ToolKind;

/* What code adds to at each instruction: a word at this offset from the guest state, and how much. */
typedef struct ToolCell {
    u32 off;
    i32 amount;
} ToolCell;

/* The amount is value number `value` - 1 of the hook, or, if that is 0, a constant. */
typedef struct ToolAdd {
    u32 counter;
    i32 amount;
    u32 value;
} ToolAdd;

/* A key of a row: value number `value` - 1 of the hook, or, if that is 0, a constant. */
typedef struct ToolKey {
    u64 constant;
    u32 value, reserved;
} ToolKey;

typedef struct ToolRowAdd {
    u32 table;
    i32 amount;
    ToolKey key[LATHE_KEYS];
} ToolRowAdd;

/* Why a function at instructions is called. */
typedef enum ToolReason {
    TOOL_NO_REASON,   /* it is not, or it is no such function */
    TOOL_LATER_EVENT, /* what is told behind instructions is not counted ahead */
    TOOL_HAS_CONDITIONS,
    TOOL_DOES_MORE,
    TOOL_AMOUNT_VARIES,
    TOOL_AMOUNT_LARGE,
    TOOL_MANY_ADDS,
    TOOL_KEY_VARIES,
    TOOL_IS_ONCE,
} ToolReason;

enum { TOOL_OPTION_NAME = 32 };
/* LatheWhere.option and .unless; empty: none. */
typedef struct ToolCondition {
    u32 tool; /* whose option it is, from 1 on */
    char option[TOOL_OPTION_NAME], unless[TOOL_OPTION_NAME];
} ToolCondition;

/* What the function of a hook does. */
typedef struct ToolPlan {
    u32 kind;        /* ToolKind */
    u32 reason;      /* ToolReason, of a TOOL_CALL */
    u32 add_count;   /* of a TOOL_COUNT */
    u32 row_count;   /* likewise */
    u32 wants_state; /* bool: it may call a function that works on the program's whole state (functions.def) */
    u32 once;        /* bool: LatheWhere.once */
    ToolCondition when;
    ToolAdd add[TOOL_ADDS];
    ToolRowAdd row[TOOL_ADDS];
} ToolPlan;

/* Does a hook count all instructions, whatever they are? Then the lifter adds to its counters (LatheTuning.cells); rows of tables are left to others. */
static inline bool tool_plan_is_of_all_insns(const ToolPlan *plan, u32 event, bool filtered) {
    return event == LATHE_INSN && plan->kind == TOOL_COUNT && !filtered;
}

/* What has become of a hook's function where its event is, in translated code. */
typedef enum ToolWay {
    TOOL_AS_COUNTER, /* an addition */
    TOOL_MERGED,     /* a part of an addition that there is already */
    TOOL_INLINED,
    TOOL_SPLIT, /* inlined, but for rare parts, which are called */
    TOOL_CALLED,
    TOOL_CALLED_KEEPING, /* the version that keeps its caller's registers (tool/keep.h) is called */
    TOOL_LEFT,           /* it is called from outside of translated code, which is left for that */
    TOOL_WAYS,
} ToolWay;

/* A section of objects, which they write to: a byte for each hook with `once` and instruction of theirs, 1 once the function was called there. */
#define TOOL_ONCE_SECTION "lathe_tool_once"

/* A row of this section of objects: sites in the object. */
#define TOOL_SITES_SECTION "lathe_tool_sites"
typedef struct ToolSites {
    u32 hook, way; /* ToolWay */
    u32 sites;
    u32 size; /* instructions of LLVM-IR, before they are optimised, of all of them */
} ToolSites;
enum { TOOL_ADD_INSNS = 3 }; /* an addition is a load, an add and a store */

/* The parts of a package. */
typedef struct ToolParts {
    const ToolPackage *head;
    const ToolPlan *plans;
    const u8 *object, *bitcode;
    const char *inputs;
} ToolParts;

/* False: the bytes are no package of this version. The sizes say where everything is, so they have to add up. `at` is aligned for a u64. */
static inline bool tool_open(const void *at, u64 size, ToolParts *parts) {
    const ToolPackage *p = (const ToolPackage *)at;
    if (size < sizeof(*p) || p->magic != TOOL_MAGIC || p->version != TOOL_VERSION || p->hook_count > TOOL_HOOKS_MAX ||
        p->counter_count > TOOL_COUNTERS_MAX || p->table_count > TOOL_TABLES_MAX || p->object_size > size ||
        p->bitcode_size > size || p->inputs_size > size)
        return false;
    const ToolPlan *plans = (const ToolPlan *)(p + 1);
    const u8 *object = (const u8 *)(plans + p->hook_count);
    const u8 *bitcode = object + p->object_size, *inputs = bitcode + p->bitcode_size;
    *parts = (ToolParts){p, plans, object, bitcode, (const char *)inputs};
    return sizeof(*p) + p->hook_count * sizeof(*plans) + p->object_size + p->bitcode_size + p->inputs_size == size &&
           p->inputs_size && !inputs[p->inputs_size - 1];
}

#endif
