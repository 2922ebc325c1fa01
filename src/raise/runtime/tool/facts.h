/* facts.h: what a raised program has for its tools (lathe/tool.h): data that src/raise/tool builds, and the run-time beside it reads. */
#ifndef RAISE_RUNTIME_TOOL_FACTS_H
#define RAISE_RUNTIME_TOOL_FACTS_H

#include "base/base.h"
#include "lathe/tool.h"

/* The keys of a row of a table. */
typedef struct ToolFactsRow {
    u64 key[LATHE_KEYS];
    u64 table;
    u64 relative; /* a bit for each key: it is an address, counted from the image's beginning */
} ToolFactsRow;

/* A function, counted from the image's beginning. */
typedef struct ToolFactsSymbol {
    u64 at, bytes; /* 0: the size is not known, */
    u64 room;      /* but it has at most so many */
    const char *name;
} ToolFactsSymbol;

/* A part of the old file that was executable. */
typedef struct ToolFactsPart {
    u64 at, bytes, offset;
} ToolFactsPart;

typedef struct ToolFacts {
    u64 *counters;
    u64 counter_count;
    u64 *rows; /* of tables, */
    u64 row_count;
    const ToolFactsRow *keys; /* one for each */
    u64 table_count;
    const ToolFactsSymbol *symbols; /* by rising addresses */
    u64 symbol_count;
    const char *const *opcodes; /* names */
    u64 opcode_count;
    const ToolFactsPart *parts;
    u64 part_count;
    const char *options;
    const u8 *image;
    u64 base; /* the image's first address in the file */
} ToolFacts;

#define TOOL_FACTS "lathe_tool_facts"
extern const ToolFacts lathe_tool_facts __attribute__((visibility("hidden")));

/* What raised code calls. */
#define TOOL_BEGINS "lathe_tool_begins"         /* void(void): the program begins */
#define TOOL_ENDS "lathe_tool_ends"             /* void(void): it ends */
#define TOOL_THREAD_ID "lathe_tool_thread_id"   /* i64(void) */
#define TOOL_THREAD_OWN "lathe_tool_thread_own" /* i64(i64 which): LATHE_THREAD_OWN, and so many bytes further */

#endif
