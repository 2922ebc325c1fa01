/* code.h: the optimising tier: see code.c. */
#ifndef RUN_CLIENT_CODE_H
#define RUN_CLIENT_CODE_H

#include "run/client/code/arena/arena.h"
#include "run/client/core/client.h"

/* Runs the guest from t->cpu.pc until it ends: the outermost loop of every thread, whatever its tier. */
_Noreturn void thread_run(Thread *t);
/* Leaves this stack for good and calls thread_run on another one. */
_Noreturn void thread_start(Thread *t, u64 stack_top);

bool code_init(void);
/* The address by which translated code calls the client's function of that name: a trampoline near the code. */
u64 code_helper(const char *name);
/* Finds optimised code for the guest address pc: in the table, in the cache, or by waiting for the server; with --tier=auto, the way to quick code if
 * there is none yet. Never NULL: what cannot be translated leads to code that raises the guest's fault. */
void *code_find(Thread *t, u64 pc);
/* The following are for --tier=auto, and called with the arena's lock held.
 * True if there is optimised code for pc, or it was requested, or it is known that none can be had. */
bool code_has(u64 pc);
/* The same, but false while a request for it is under way. */
bool code_is_settled(u64 pc);
/* True if optimised code for pc was given up because it was no gain, or if none can be had. */
bool code_is_given_up(u64 pc);
/* Adds to the heat of the code at pc, and returns its heat in this run and all earlier ones. */
u64 code_warm(u64 pc, u32 heat);
/* The code at pc is about to be requested from the server. */
void code_ask(u64 pc);
/* Notes what earlier runs have learned of pc: its heat, and whether its code was given up, or none could be had (`refused`). */
void code_recall(u64 pc, u32 heat, bool given_up, bool refused);
/* Takes optimised code for pc from the cache, if it is there, and makes quick code go on in it. */
void code_load(Thread *t, u64 pc);
/* The same with the object that the server has sent. */
void code_install(Thread *t, const ObjectMessage *facts, const void *object);
/* The server's answer is of no use, because the guest's code has changed since: pc may be requested again. */
void code_unask(u64 pc);
/* The server has no code for this address: it is not asked for it again, in later runs neither. */
void code_refused(const ObjectMessage *facts);
/* Gives all optimised code up for now; places may become optimised again. */
void code_revert_all(void);
/* The optimised code at this offset in the arena is no gain: the guest goes on in quick code there, for good. */
void code_revert(u64 offset);
/* Forgets all translations of guest code in [start, end), because that code has changed. */
void code_discard(u64 start, u64 end);
void code_after_fork(void); /* in the child */
/* With --tier=opt, change what kind of code is made from now on. All translations so far are forgotten, and threads leave them (leave.h). code_share:
 * for memory that others see, too. code_watch: loops look for signals. code_keep_state: faults of the guest's accesses to memory leave with the state
 * in whole. */
void code_share(void);
void code_watch(void);
void code_keep_state(void);
/* With --tier=opt: from now on there is only quick code. `why` is printed if there is a plugin, which has no effect on quick code. */
void code_give_way(const char *why);

/* The tables of the optimising tier, for an image. code_drop comes first: it forgets what the image does not keep. */
enum { CODE_PARTS = 3 };
typedef struct CodeCounts {
    u64 entries, functions; /* of the table: all, and those with code */
} CodeCounts;
void code_drop(bool (*keeps)(u64 pc));
CodeCounts code_export(const Thread *t, ImagePart parts[CODE_PARTS]);
/* Called before there is any optimised code. The first part may be written to; its memory belongs to code.c from now on. */
void code_import(Thread *t, const ImagePart parts[CODE_PARTS], CodeCounts counts);

#endif
