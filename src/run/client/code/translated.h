/* translated.h: translated code, as the rest of the client sees it: whoever runs programs (os) and the guest's part of the client include this, image.h and
 * tier.h, and nothing of a single tier or of the server's connection. What memory has to tell of changes of the guest's code is in memory/watch.h. */
#ifndef RUN_CLIENT_TRANSLATED_H
#define RUN_CLIENT_TRANSLATED_H

#include "run/client/core/client.h"
#include "run/client/core/place.h"

/* Does code look up the guest's addresses in a map (code/quick/map.h), which is for low addresses only? */
bool translated_has_map(void);
/* Before all that follows; false: there is no memory. */
bool translated_init(void);
/* What there is so far is the client's own: images (image.h) have what is made from now on. */
void translated_fix(void);
/* The lock of translated code, and of the lists of threads in `the`. */
void translated_lock(void);
void translated_unlock(void);

/* ------------------------------------------------------------------------------------------------- threads and processes */

/* A new thread, before it is listed, and one that is not listed any more, with the lock held. */
void translated_thread_begins(Thread *t);
void translated_thread_ends(Thread *t);
/* The memory of a thread that has ended can be the memory of a new one, with the tables in it: nothing has changed since that they know of. With the lock. */
bool translated_fits_new_thread(const Thread *ended);
void translated_thread_free(Thread *t); /* what it still has */

/* Runs the guest from t->cpu.pc until it ends: on this stack, or from the bottom of the thread's own, which leaves this one for good. */
_Noreturn void translated_run(Thread *t);
_Noreturn void translated_run_anew(Thread *t);
/* May t be in optimised code that is given up? As soon as its state is whole it has to go on by translated_run_anew. */
bool translated_is_given_up(const Thread *t);

/* The process is about to fork, with the lock held; and its child is this thread alone: first what concerns others than this process, then the code. */
void translated_before_fork(void);
void translated_leave_parent(Thread *t);
void translated_after_fork(Thread *t);
/* From now on somebody else sees the guest's memory while its code runs: a thread, or a process that shares it (`separate`). */
void translated_share(Thread *t, bool separate);

/* A debugger stops the guest (core/debug.h): all threads but this one wait where their state is whole, until the end of that, or until one is released; a thread
 * that is to wait with them is halted, too. With the lock, but for translated_halt_wait, by which a thread waits. */
void translated_halt(const Thread *self);
void translated_halt_end(void);
void translated_release(Thread *t);
void translated_halt_this(Thread *t);
bool translated_is_halted(const Thread *t);
void translated_halt_wait(Thread *t); /* returns as well if the thread is to attend to the debugger */
/* This thread is to come to debug_attend before it goes on; and was it to? Then it is not any more. */
void translated_attend(Thread *t);
bool translated_is_to_attend(Thread *t);

/* ----------------------------------------------------------------------------------------------------- signals and faults */

/* Is the host address in quick code? Then *place is where the guest is. */
bool translated_locate(u64 host, QuickPlace *place);

/* What a thread does that was interrupted. */
struct SignalContext;
typedef enum TranslatedWhere {
    TRANSLATED_BOUNDARY, /* it is in quick code between two instructions of the guest, at *place: its state can be taken */
    TRANSLATED_RESUMING, /* it is about to enter quick code: its state is in the Thread */
    TRANSLATED_INSIDE,  /* it is in quick code or the assembly around it, and somewhere else a few instructions later */
    TRANSLATED_CALLED,  /* it is in a function of a tool's that quick code has called */
    TRANSLATED_OUTSIDE, /* it is in C or in optimised code */
} TranslatedWhere;
TranslatedWhere translated_where(const Thread *t, const struct SignalContext *s, QuickPlace *place);
/* A function of a tool's that was called does not return to quick code, but traps: true for that trap, and the thread goes on in quick code, where its
 * state can be waited for. */
void translated_recall(Thread *t);
bool translated_is_recalled(Thread *t, struct SignalContext *s);

/* The instruction at the place was begun: a tool has counted it rightly. */
void translated_begun(QuickPlace *place);
/* The guest's state, but for the flags, of a thread that was interrupted at a place in quick code. */
void translated_take_state(Thread *t, const struct SignalContext *s, const QuickPlace *place);
/* The host address at which a thread goes on then, or one that was about to enter quick code: the guest's signals are looked for. */
u64 translated_diversion(void);

/* A fault that is expected: of what quick code and the assembly around it do beside the guest's own instructions. The thread goes on by another way then.
 * False: it was another one. */
bool translated_detour(struct SignalContext *s);
/* Where optimised code goes on after a fault of an access to the guest's memory at this host address: it comes to signal_trap with the state in whole.
 * 0: there is no such access. */
u64 translated_access_exit(u64 host);
/* Is the instruction there, in optimised code, an access of a tool's function that is a part of it? */
bool translated_is_tools(u64 host);

/* A write to memory that was made read-only because its code is translated: true if that is what it was; the code is forgotten then, and the write can be
 * done again. The same for all such memory, where the kernel has refused to write to some of it; false: there is none. */
bool translated_written(u64 addr);
bool translated_allow_writes(void);

/* Signals of the client's own: this thread is to stop outside quick code, or to leave optimised code that is given up. */
struct SignalInfo;
bool translated_is_stop(const struct SignalInfo *info);
bool translated_is_leave(const struct SignalInfo *info);

/* ---------------------------------------------------------------------------------------------------------------- the server */

/* The guest is about to give up rights, or to go where it may find no server: one can still be had afterwards. */
void translated_before_confinement(Thread *t);
/* The child has descriptors of its own, copies of the parent's. */
void translated_copy_descriptors(Thread *child, const Thread *parent);
/* Another program takes this one's place: nothing of ours may interrupt it. */
void translated_before_exec(void);
/* For a client that exec starts: its option `keeper`, whose descriptor stays open if `stays`. */
u32 translated_hand_on(Thread *t, bool stays);

/* Descriptors that are not the guest's: the lowest that is not below `from`, or -1. And the guest is going to have one of this number: ours moves away;
 * false: it cannot. */
int translated_descriptor(Thread *t, int from);
bool translated_make_way(Thread *t, int fd);

#endif
