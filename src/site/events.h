/* events.h: the events of instructions (lathe/tool.h) in lifted code: what a tool's hooks do at them stands between the lifted instructions.
 *
 * `lathe run` and `lathe raise` have the tool's counters, words and functions in different places, and know different things about code: each says so by an
 * EventsDoor. */
#ifndef SITE_EVENTS_H
#define SITE_EVENTS_H

#include "lift/watch.h"
#include "site/site.h"
#include "tool/package.h"

/* A hook of the tool's. */
typedef struct ToolHook {
    u32 event;            /* LatheEvent */
    const char *function; /* its name in the module */
    const ToolPlan *plan;
    LatheValue value[LATHE_VALUES];
    bool filtered;  /* it does not apply everywhere (LatheWhere): the door says at which places it does */
    bool once;      /* LatheWhere.once */
    bool not_stack; /* accesses at the stack pointer plus a constant are left out, which is decided here */
} ToolHook;

/* A hook as the tool's bitcode has it. */
ToolHook events_read_hook(LLVMValueRef hook, const ToolPlan *plan);
/* What the function of a hook is called with, of 64-bit values; false: it takes none such. */
bool events_arguments(LLVMBuilderRef b, LLVMValueRef function, const LLVMValueRef values[LATHE_VALUES],
                      LLVMValueRef args[LATHE_VALUES], u32 *count);

/* Additions to a row of a table, whose keys are known. */
typedef struct EventsRow {
    u32 table;
    i32 amount;
    u64 key[LATHE_KEYS];
    u32 relative; /* a bit for each key: it is an address, and told from EventsDoor.base on */
} EventsRow;

typedef struct EventsDoor {
    const Isa *isa;
    void *user; /* handed to all functions */
    u64 base;   /* of addresses that are keys */
    /* Guest code; returns how many bytes there are. */
    size_t (*read)(void *user, u64 pc, void *to, size_t size);
    /* Where the byte is that says whether a hook with `once` was called at an instruction; NULL: such hooks are called each time. */
    Val (*once)(void *user, Lifter *l, u32 hook, u64 pc);
    /* A function is about to be lifted that has these instructions. */
    void (*begin)(void *user, const u64 *pcs, size_t count);
    /* Is the instruction left to others, as if it had no meaning? */
    bool (*is_left)(void *user, u64 pc);
    /* The hooks that apply to an instruction: a bit for each. */
    u64 (*hooks_at)(void *user, u64 pc);
    /* An event that lifted code cannot tell; the instruction is left to others then. */
    void (*cannot_tell)(void *user, u64 pc, LatheEvent event);
    /* Before an instruction, and behind it; may be NULL. */
    void (*before)(void *user, Lifter *l, const Insn *in, const InsnView *view);
    void (*behind)(void *user, Lifter *l, const InsnView *view);
    /* Values, as 64 bits. */
    Val (*thread_id)(void *user, Lifter *l);
    Val (*thread_own)(void *user, Lifter *l, u64 number);
    Val (*site_words)(void *user, Lifter *l, u32 hook, u64 pc);
    Val (*counted)(void *user, Lifter *l, u64 counter);
    /* What is done at events. */
    void (*add)(void *user, Lifter *l, u64 counter, i32 amount);
    void (*add_row)(void *user, Lifter *l, const EventsRow *row);
    bool (*call)(void *user, Lifter *l, u32 hook, const char *function, Val value[LATHE_VALUES]);
    void (*counts)(void *user, u32 hook); /* additions of a hook's were put somewhere */
    u32 inside_off;                       /* LiftWatch.inside_off, */
    bool inside_traps;                    /* and inside_traps */
    bool counts_by_cells;                 /* the lifter counts all instructions itself (LatheTuning.cells) */
} EventsDoor;

typedef struct Events Events;
/* The door is used as long as the events are. */
Events *events_new(const EventsDoor *door);
void events_free(Events *e); /* accepts NULL */
/* What is lifted into a module is told to these hooks, which it has the functions of, but for those in the set `skipped`. Returns who watches. */
const LiftWatch *events_begin(Events *e, LLVMModuleRef mod, const ToolHook *hooks, u32 count, u64 skipped);
/* Is the event one of instructions that has such a hook? */
bool events_have(const Events *e, LatheEvent event);
void events_fail(Events *e);
/* Something of what was lifted since cannot be told to the tool, so that the code is of no use. Accepts NULL. */
bool events_failed(const Events *e);

#endif
