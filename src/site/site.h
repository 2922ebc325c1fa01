/* site.h: which events an instruction has for a tool (lathe/tool.h), and in which order. This is the only place that says so: code of copies, of stencils and of
 * LLVM goes by it. */
#ifndef SITE_SITE_H
#define SITE_SITE_H

#include "isa/view.h"
#include "lathe/tool.h"

/* When an event is told. An instruction that is repeated is a loop of passes for a tool that watches its accesses. */
typedef enum SitePhase {
    SITE_BEFORE, /* before the instruction */
    SITE_PASS,   /* before each pass of a repeated one */
    SITE_PASSED, /* behind each pass */
    SITE_BEHIND, /* behind the instruction */
    SITE_ONCE,   /* before all other functions before the instruction, for a hook with `once` */
} SitePhase;

typedef struct SiteEvent {
    u8 event;  /* LatheEvent */
    u8 phase;  /* SitePhase */
    u8 access; /* of an access: which one of InsnView.access */
} SiteEvent;

/* A block, a function, the instruction before and behind, how control goes on, and up to four for each access. */
enum { SITE_EVENTS = 5 + 4 * INSN_ACCESSES };

/* What is known of an instruction beside its view. */
typedef struct SitePlace {
    bool begins_block, begins_function;
} SitePlace;

/* The events of an instruction, in the order in which they are told. Returns how many. view NULL: the bytes are no instruction that is known. */
u32 site_events(const InsnView *view, SitePlace place, SiteEvent events[SITE_EVENTS]);

/* What values of hooks are made of that are known when code is translated. */
typedef struct SiteFacts {
    const InsnView *view;
    u64 pc;
    u64 block_bytes, block_insns; /* of LATHE_BLOCK: how large the block is */
} SiteFacts;

/* A value that is known then: those of tool/values.def with AHEAD. */
u64 site_known_value(const LatheValue *v, const SiteEvent *event, const SiteFacts *facts);

/* Is the event about an instruction? */
bool site_is_event(LatheEvent event);
/* Is the address of an access the stack pointer and a constant (LatheWhere.not_stack)? */
bool site_is_of_stack(const InsnAccess *a, u32 stack_pointer);
/* Does control go on with the next instruction behind this one always, so that a block does not end with it? */
bool site_goes_on(const InsnView *view);
/* Does a name match one that may have stars, which stand for anything (LatheWhere)? */
bool site_name_matches(const char *pattern, const char *name);
/* Is some access made once in each pass? */
bool site_repeats(const InsnView *view);

#endif
