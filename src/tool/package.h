/* package.h: a tool as it is built (build.c), and as the client loads it: one file.
 *
 *     ToolPackage              sizes of all that follows
 *     ToolPlan[hook_count]     what the tool's functions do, hook by hook
 *     object                   an ELF object of the host's kind: the tool's functions, its data, and lathe_hooks
 *     bitcode                  the same as LLVM-IR, for code that LLVM makes
 *
 * What a hook says itself (its event, its values) is in lathe_hooks, a LatheHook for each, ended by LATHE_NOTHING. */
#ifndef TOOL_PACKAGE_H
#define TOOL_PACKAGE_H

#include "base/base.h"
#include "lathe/tool.h"

#define TOOL_HOOKS "lathe_hooks" /* the symbol of the array of hooks */
#define TOOL_PREFIX "tool."      /* of all other symbols */

enum { TOOL_MAGIC = 0x6c6f6f74, TOOL_VERSION = 1 };
enum { TOOL_HOOKS_MAX = 64, TOOL_COUNTERS_MAX = 512, TOOL_ADDS = 4 };
enum { TOOL_CELLS = 8 };   /* of a counter, in each thread */
enum { TOOL_COUNTS = 16 }; /* different counters that instructions are counted by */

typedef struct ToolPackage {
    u32 magic, version;
    u64 identity; /* of what it was built from: the file, and the builder */
    u32 hook_count, counter_count;
    u64 object_size, bitcode_size;
    u64 checksum; /* pack_hash of all that follows */
} ToolPackage;

typedef enum ToolKind {
    TOOL_CALL,  /* anything: it is called */
    TOOL_COUNT, /* only adds constants to counters */
} ToolKind;

/* What code adds to at each instruction: a word at this offset from the guest state, and how much. */
typedef struct ToolCell {
    u32 off;
    i32 amount;
} ToolCell;

typedef struct ToolAdd {
    u32 counter;
    i32 amount;
} ToolAdd;

/* What the function of a hook does. */
typedef struct ToolPlan {
    u32 kind;      /* ToolKind */
    u32 add_count; /* of a TOOL_COUNT */
    ToolAdd add[TOOL_ADDS];
} ToolPlan;

/* The parts of a package. */
typedef struct ToolParts {
    const ToolPackage *head;
    const ToolPlan *plans;
    const u8 *object, *bitcode;
} ToolParts;

/* False: the bytes are no package of this version. The sizes say where everything is, so they have to add up. `at` is aligned for a u64. */
static inline bool tool_open(const void *at, u64 size, ToolParts *parts) {
    const ToolPackage *p = (const ToolPackage *)at;
    if (size < sizeof(*p) || p->magic != TOOL_MAGIC || p->version != TOOL_VERSION || p->hook_count > TOOL_HOOKS_MAX ||
        p->counter_count > TOOL_COUNTERS_MAX || p->object_size > size || p->bitcode_size > size)
        return false;
    const ToolPlan *plans = (const ToolPlan *)(p + 1);
    const u8 *object = (const u8 *)(plans + p->hook_count);
    *parts = (ToolParts){p, plans, object, object + p->object_size};
    return sizeof(*p) + p->hook_count * sizeof(*plans) + p->object_size + p->bitcode_size == size;
}

#endif
