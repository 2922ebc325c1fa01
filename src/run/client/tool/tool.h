/* tool.h: the tool that watches the guest (--tool).
 *
 * Its package (tool/package.h) is linked into memory of the client's own when the client starts: the guest sees nothing of it. The names that it does
 * not define itself are those of lathe/tool.h, which runtime.c has. */
#ifndef RUN_CLIENT_TOOL_H
#define RUN_CLIENT_TOOL_H

#include "run/client/core/client.h"
#include "tool/package.h"

/* Before anything is looked for in the cache: notes which tool the options name, if they do, as a part of what identifies code. */
void tool_identify(void);
/* Loads the tool that the options name, if they do; ends the process with a message if it cannot be loaded. */
void tool_load(void);

/* Are functions called at this event, which do more than to count? */
bool tool_calls(LatheEvent event);

/* Do such functions at instructions ask for what only quick code gives them? */
bool tool_needs_quick(void);
/* Where something is that code of the server's names. */
bool tool_symbol(const char *name, u64 *address);
/* What the server has to know to make code with calls of the tool's functions; NULL: nothing. */
const void *tool_package(u64 *size);

/* What each instruction adds to which counters. */
typedef struct ToolCounts {
    u32 count;
    ToolAdd add[TOOL_COUNTS];
} ToolCounts;
const ToolCounts *tool_counts(void);

/* The offset of a counter's cell in a Thread. */
static inline u32 tool_cell(u32 counter, u32 cell) {
    return (u32)(offsetof(Thread, tool.cell) + (counter * TOOL_CELLS + cell) * sizeof(u64));
}

/* What an event is about, as far as hooks can ask for it; zero where it has no meaning. */
typedef struct ToolEvent {
    u64 pc, size;
    u64 number;
    u64 *arguments; /* of a system call; NULL: there are none */
    i64 result;
} ToolEvent;

/* Has the tool functions for an event? */
bool tool_watches(LatheEvent event);
/* Calls the functions that the tool has for an event. */
void tool_call(LatheEvent event, ToolEvent *about);

/* A thread ends, with the lock of translated code held: what it has counted is kept, and it may become another one. */
void tool_thread_ends(Thread *t);
/* A process was forked: it begins with nothing counted. */
void tool_after_fork(Thread *t);
/* The program of t ends, or another one takes its place: does something once, and waits where another thread does it. A process that borrows memory is not the
 * program. */
void tool_end(const Thread *t);
/* The program goes on: exec has failed. */
void tool_not_ended(const Thread *t);

/* runtime.c: the functions of lathe/tool.h. */
bool tool_resolve(const char *name, u64 *address);
u64 tool_ended(u32 counter); /* the counts of threads that have ended */

#endif
