/* tool.h: tools (lathe/tool.h) in a raised program: `lathe raise --tool`.
 *
 *     tool.c    the package of the tools, what they ask for, and whether a raised program has that
 *     watch.c   what site/events.h asks for: functions are called, and additions are noted
 *     places.c  which hooks apply at which instructions
 *     counts.c  the additions, in functions that are values already
 *     facts.c   the data that the tools' run-time reads (raise/runtime/tool)
 *
 * The program has the tools' object as `lathe run` has it, and a run-time of its own. */
#ifndef RAISE_TOOL_TOOL_H
#define RAISE_TOOL_TOOL_H

#include "raise/raise.h"
#include "raise/runtime/tool/facts.h"
#include "site/events.h"

/* Where a hook applies (LatheWhere). */
typedef struct ToolPlace {
    const char *module, *symbol, *opcode; /* NULL: any */
    u64 classes;                          /* 0: any */
    bool leaves;
} ToolPlace;

struct RaiseTool {
    Raise *r;
    u8 *package; /* a copy */
    ToolParts parts;
    const char *options;
    const char *module; /* the name of the file that is raised, without its directory */
    LLVMModuleRef mod;  /* the tools' functions */
    EventsDoor door;
    Events *events;
    ToolHook hook[TOOL_HOOKS_MAX];
    ToolPlace place[TOOL_HOOKS_MAX];
    bool lifting;  /* functions are lifted now; before, they were looked for */
    bool parallel; /* may there be a second thread? */
    VEC(ToolFactsRow) rows;
    Map64 row_by_hash; /* the number of a row + 1, where it has not been taken, in the order of probing */
};

/* A function of the tools' run-time, or of the tools. */
LLVMValueRef tool_function(RaiseTool *t, const char *name, LLVMTypeRef type);

/* watch.c: additions are calls of these until counts.c makes additions of them: void(i64 number, i64 amount). */
#define TOOL_ADD "lathe_tool_add"
#define TOOL_ADD_ROW "lathe_tool_add_row"
#define TOOL_COUNTERS "lathe_tool_counters"
#define TOOL_ROWS "lathe_tool_rows"
void tool_open_door(RaiseTool *t);

/* places.c */
u64 tool_hooks_at(void *tool, u64 pc);
/* How many bytes from its beginning on a function has at most; one whose size the file does not tell has what is left of its section, or what is before the next one. */
u64 tool_function_room(const RaiseTool *t, const ElfFunction *f);

/* facts.c */
void tool_add_facts(RaiseTool *t);

#endif
