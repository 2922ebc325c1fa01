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

/* Does the function of a hook at instructions want what only quick code has: the guest's whole state? */
bool tool_wants_quick(u32 hook);
/* Is there such a function that is called not only in functions of certain names? Then all is quick code; else only those instructions. */
bool tool_needs_quick(void);
/* Where something is that code of the server's names. */
bool tool_symbol(const char *name, u64 *address);
/* What the server has to know to make code that tells the tool of events; NULL: nothing, since all instructions are counted alike. */
const void *tool_package(u64 *size);

/* The counters that hooks at instructions add to, and how much each instruction adds by itself; events that only some have may add more (sites.h). */
typedef struct ToolCounts {
    u32 count;
    ToolAdd add[TOOL_COUNTS];
} ToolCounts;
const ToolCounts *tool_counts(void);

/* The offset of a counter's cell in a Thread. */
static inline u32 tool_cell(u32 counter, u32 cell) {
    return (u32)(offsetof(Thread, tool.cell) + (counter * TOOL_CELLS + cell) * sizeof(u64));
}

/* How many cells of a counter are used: fewer, if a hook asks for their sum. */
u32 tool_cells(u32 counter);

/* What an event is about, as far as hooks can ask for it; zero where it has no meaning. */
typedef struct ToolEvent {
    u64 pc, size;
    u64 number;
    u64 *arguments; /* of a system call; NULL: there are none */
    i64 result;
    /* Of instructions (sites.h): */
    u64 address, bytes, value, count, target, taken, next, classes, opcode, site;
    /* Of modules: */
    const char *name;
    u64 offset;
} ToolEvent;

/* The hooks, as the tool has them, and what their functions do. */
u32 tool_hook_count(void);
/* The function of one; at an access of so many bytes, perhaps a variant for these. With the arena's lock held. */
u64 tool_variant(u32 hook, u64 bytes);
/* The register that a hook has for a value, by its number; GUEST_REGISTERS or more: the value is none. */
u32 tool_value_register(const LatheHook *hook, const LatheValue *v);
/* The registers that a hook has for its values, a bit for each, by their numbers. */
u32 tool_hook_registers(u32 number);
const LatheHook *tool_hook(u32 number);
const ToolPlan *tool_plan(u32 number);
/* Does one only count instructions, and all of them, so that the lifter does it (tool_plan_is_of_all_insns)? */
bool tool_only_counts_insns(u32 number);
/* Calls the function of one. */
void tool_call_hook(u32 number, ToolEvent *about);

/* Has the tool functions for an event? */
bool tool_watches(LatheEvent event);
/* Calls the functions that the tool has for an event. */
void tool_call(LatheEvent event, ToolEvent *about);

/* A thread ends, and this is its last moment: calls the tool's functions, and writes its files. */
void tool_thread_end(Thread *t);
/* modules.c: the program may execute what is there from now on, or not any more; nothing is there, or something else than before; and it begins with what is there. */
void tool_executable(u64 start, u64 size);
void tool_not_executable(u64 start, u64 size);
void tool_unmapped(u64 start, u64 size);
void tool_modules(void);
/* Is there a tool? */
bool tool_exists(void);

/* The stack of a thread for functions that quick code calls, if there is a tool; false: there is no memory for it. */
enum { TOOL_STACK_BYTES = 256 << 10 };
bool tool_stack_new(Thread *t);
void tool_stack_free(Thread *t);
/* True for a stack pointer on that stack: the thread is in such a function, or in what that has called. */
static inline bool tool_stack_holds(const Thread *t, u64 sp) {
    return t->stack.tool_top && t->stack.tool_top - sp - 1 < TOOL_STACK_BYTES;
}

/* A thread ends, with the lock of translated code held: what it has counted is kept, and it may become another one. */
void tool_thread_ends(Thread *t);
/* A process was forked: it begins with nothing counted. */
void tool_after_fork(Thread *t);
/* The program of t ends, or another one takes its place: does something once, and waits where another thread does it. A process that borrows memory is not the
 * program. */
void tool_end(const Thread *t);
/* The program goes on: exec has failed. */
void tool_not_ended(const Thread *t);

/* The program begins, with these arguments. Ends the process with a message if the tool does not know an option that it was given. */
void tool_start(char **argv);

/* Around fork, in the thread that forks: tool_before_fork waits until no function of the tool's is in the middle of a change, and tool_lock, which comes with the lock of translated code held,
 * keeps others from beginning one. tool_unlock and tool_fork_done are called in both processes. */
void tool_before_fork(void);
void tool_lock(void);
void tool_unlock(void);
void tool_fork_done(void);

/* The name of the tool's function that an address of its code is in, with the number of the tool and a dot in front; NULL: it is none. */
const char *tool_function(u64 pc);
/* fault.c: the function of the tool's that a thread is in, if its host state is this; NULL: it is in none. */
const char *tool_running(u64 pc, u64 sp);
/* The function that code has at this instruction of the program's (0: any one), if there is only one; else a text that stands for all of them. */
const char *tool_function_inside(u64 guest_pc);
/* The function for a fault in optimised code or what that has called, which may have functions of the tool's in it; NULL also if that cannot be told. `handled`: the guest has a handler; `marked`: the object says that
 * it is an access of the tool's. */
const char *tool_inlined(int sig, u64 address, u64 pc, bool handled, bool marked);
/* Ends the process, with a message about a function that has faulted at pc. */
_Noreturn void tool_faulted(const char *function, int sig, u64 address, u64 pc);
/* Says that the process is going to end by a signal since `function` (NULL: nobody knows which) does not return, and writes files. */
void tool_gives_up(u32 sig, const char *function, u32 seconds);

/* files.c: where the number of a descriptor of the tool's is, from the first one on; NULL: there are no more. The lock is held meanwhile. */
int *tool_descriptor(u32 index);
void tool_files_lock(void);
void tool_files_unlock(void);

/* symbols.c: does one of the names of the function at an address match one that may have stars (site_name_matches)? */
bool tool_symbol_matches(u64 address, const char *pattern);
/* Has the tool given a name to what begins there, or somewhere in a range (lathe_name_function)? */
bool tool_is_named(u64 address);
bool tool_names_in(u64 start, u64 end);

/* insns.c: reads the bytes of an instruction; behind it there may be none. Returns how many there are. */
u64 tool_read_text(u64 address, u8 text[GUEST_INSN_BYTES]);

/* runtime.c: the functions of lathe/tool.h. */
bool tool_resolve(const char *name, u64 *address);
u64 tool_ended(u32 counter); /* the counts of threads that have ended */

#endif
