/* code.h: the optimising tier: see code.c. */
#ifndef RUN_CLIENT_CODE_H
#define RUN_CLIENT_CODE_H

#include "run/client/code/arena/arena.h"
#include "run/client/core/client.h"

/* Run the guest from t->cpu.pc until it ends. */
_Noreturn void thread_run(Thread *t);
/* Leave this stack for good and run the guest on another one. */
_Noreturn void thread_start(Thread *t, u64 stack_top);

bool code_init(void);
/* What translated code calls by that name, near the code. */
u64 code_helper(const char *name);
/* Host code for the guest address pc: from the table, the cache or the server. Never NULL: code that cannot be translated
 * leads to code that raises the guest's fault. */
void *code_find(Thread *t, u64 pc);
/* The following are for --tier=auto, and called with the arena's lock held.
 * True if there is optimised code for pc, or if it is known that there is none to be had. */
bool code_has(u64 pc);
/* The same, but false while the server works at it. */
bool code_is_settled(u64 pc);
/* True if optimised code for pc was no gain, or there is none. */
bool code_is_given_up(u64 pc);
/* Adds to the heat of the code at pc, and returns its heat in this run and all earlier ones. */
u64 code_warm(u64 pc, u32 heat);
/* The code at pc is about to be requested from the server. */
void code_ask(u64 pc);
/* What earlier runs have learned of pc: its heat then, and whether its code was given up, or there was none (`refused`). */
void code_recall(u64 pc, u32 heat, bool given_up, bool refused);
/* Takes optimised code for pc from the cache, if it is there, and lets quick code go on in it. */
void code_load(Thread *t, u64 pc);
/* The same with the object that the server has sent. */
void code_install(Thread *t, const ObjectMessage *facts, const void *object);
/* What the server has sent is of no use: it may be asked again. */
void code_unask(u64 pc);
/* The server has none: it is not asked again, in later runs either. */
void code_refused(const ObjectMessage *facts);
/* All guest code runs as quick code for now; what was optimised may become so again. */
void code_revert_all(void);
/* Optimised code at this offset in the arena is no gain: back to quick code, for good. */
void code_revert(u64 offset);
/* Forgets all translations of guest code in [start, end), because that code has changed. */
void code_discard(u64 start, u64 end);
void code_after_fork(void); /* in the child */
/* With --tier=opt: from now on others see the guest's memory. All translations so far are forgotten, and the threads in them leave (leave.h). */
void code_share(void);
/* Likewise: from now on loops look for signals. */
void code_watch(void);
/* Likewise: faults of the guest's accesses to memory leave translations with the state in whole. */
void code_keep_state(void);
/* Likewise: from now on there is only quick code. `why` is told if there is a plugin, which quick code knows nothing of. */
void code_give_way(const char *why);

/* All optimised code there is, for another process. Before that: what is not wanted is forgotten. */
enum { CODE_PARTS = 3 };
typedef struct CodeCounts {
    u64 entries, functions; /* all that is known of, and those with code */
} CodeCounts;
void code_drop(bool (*keeps)(u64 pc));
CodeCounts code_export(const Thread *t, ImagePart parts[CODE_PARTS]);
/* Before there is any. The first part may be written to, and is code.c's from now on. */
void code_import(Thread *t, const ImagePart parts[CODE_PARTS], CodeCounts counts);

#endif
