/* translated.h: translated code, as the rest of the client sees it. The folders os, guest and debug include this header, image.h and tier.h, and
 * nothing of a single tier or of the connection to the server. How the folder memory tells of changes of the guest's code is in memory/watch.h. */
#ifndef RUN_CLIENT_TRANSLATED_H
#define RUN_CLIENT_TRANSLATED_H

#include "run/client/core/client.h"
#include "run/client/core/place.h"

/* True if translated code looks up guest addresses in a map (code/quick/map.h), for which the block has to be at low addresses. */
bool translated_has_map(void);
/* Called before everything below. Returns false if there is no memory. */
bool translated_init(void);
/* The code that exists by now is the client's own and the same in every process; images (image.h) hold what is made afterwards. */
void translated_fix(void);
/* The lock of translated code, and of the lists of threads in `the`. */
void translated_lock(void);
void translated_unlock(void);

/* ------------------------------------------------------------------------------------------------- threads and processes */

/* Called with the lock held: before a new thread is listed in the.threads, and after one was taken off the list. */
void translated_thread_begins(Thread *t);
void translated_thread_ends(Thread *t);
/* With the lock held: true if the lookup tables that a thread has left behind are still right, so that a new thread can use its memory as it is. */
bool translated_fits_new_thread(const Thread *ended);
void translated_thread_free(Thread *t); /* frees what a thread that has ended still has: its connection's memory */

/* Runs the guest from t->cpu.pc until it ends. translated_run does so on the present stack; translated_run_anew begins at the bottom of the thread's
 * host stack, and leaves all frames on it for good. */
_Noreturn void translated_run(Thread *t);
_Noreturn void translated_run_anew(Thread *t);
/* True if t may have frames of optimised code that was given up. As soon as its state is whole, it has to go on by translated_run_anew. */
bool translated_is_given_up(const Thread *t);

/* Around fork. Before it, with the lock held; then in the child, whose only thread t is: translated_leave_parent gives up the parent's connections,
 * translated_after_fork puts the code's tables in order. */
void translated_before_fork(void);
void translated_leave_parent(Thread *t);
void translated_after_fork(Thread *t);
/* From now on somebody else sees the guest's memory while its code runs: a second thread, or a process in the same memory (`separate`). */
void translated_share(Thread *t, bool separate);
/* From now on other processes may see a part of it. */
void translated_share_memory(void);

/* For a debugger that stops the guest (core/debug.h). translated_halt makes all threads except `self` wait where their state is whole, until
 * translated_halt_end, or until translated_release lets one of them go on. translated_halt_this makes t wait with them. All are called with the lock
 * held, except translated_halt_wait, in which a halted thread waits. */
void translated_halt(const Thread *self);
void translated_halt_end(void);
void translated_release(Thread *t);
void translated_halt_this(Thread *t);
bool translated_is_halted(const Thread *t);
void translated_halt_wait(Thread *t); /* returns, too, if the thread has to attend to the debugger */
/* translated_attend asks a thread to call debug_attend before it goes on. translated_is_to_attend tells whether t was asked, and takes the request back. */
void translated_attend(Thread *t);
bool translated_is_to_attend(Thread *t);

/* ----------------------------------------------------------------------------------------------------- signals and faults */

/* If the host address is in quick code, sets *place to where the guest is, and returns true. */
bool translated_locate(u64 host, QuickPlace *place);

/* Where a signal has interrupted a thread. */
struct SignalContext;
typedef enum TranslatedWhere {
    TRANSLATED_BOUNDARY, /* it is in quick code between two instructions of the guest, at *place: its state can be taken */
    TRANSLATED_RESUMING, /* it is about to enter quick code: its state is in the Thread */
    TRANSLATED_INSIDE, /* it is inside an instruction of the guest, or in the assembly around quick code: a few host instructions later its state can be taken */
    TRANSLATED_CALLED, /* it is in a tool's function that quick code has called */
    TRANSLATED_OUTSIDE, /* it is in C or in optimised code */
} TranslatedWhere;
TranslatedWhere translated_where(const Thread *t, const struct SignalContext *s, QuickPlace *place);
/* For a thread in TRANSLATED_CALLED. translated_recall makes the tool's function return to a trap instead of quick code. translated_is_recalled
 * returns true for that trap, and lets the thread go on in quick code, where it comes to a boundary soon. */
void translated_recall(Thread *t);
bool translated_is_recalled(Thread *t, struct SignalContext *s);

/* The guest has begun the instruction at this place, so what a tool has counted of the instruction is right, and must not be taken back. */
void translated_begun(QuickPlace *place);
/* Moves the guest's state, except for the flags, from the registers of a thread that was interrupted at a boundary to the Thread. */
void translated_take_state(Thread *t, const struct SignalContext *s, const QuickPlace *place);
/* The host address at which such a thread, or one that was about to enter quick code, goes on so that the client looks for noted signals and other requests. */
u64 translated_diversion(void);

/* Handles the faults of what quick code and the assembly around it do beside the guest's own instructions, such as a look into the map: makes the
 * thread go on another way. Returns false if it was another fault. */
bool translated_detour(struct SignalContext *s);
/* Where optimised code goes on after a fault of its access to the guest's memory at this host address; from there it comes to signal_trap with the
 * state in whole. 0: no such access is known. */
u64 translated_access_exit(u64 host);
/* True if the instruction at this host address of optimised code is an access to memory by a tool's function that LLVM has inlined. */
bool translated_is_tools(u64 host);

/* translated_written: the guest's write to addr has faulted. If the page was read-only because its code is translated, forgets the code, makes the
 * page writable, and returns true: the write can be made again. translated_allow_writes does the same for all such pages, after the kernel has
 * refused to write to some of them; it returns false if there are none. */
bool translated_written(u64 addr);
bool translated_allow_writes(void);

/* Signals that the client sends to its own threads: a request to stop outside quick code (halt.c), and one to leave optimised code that is given up
 * (leave.c). */
struct SignalInfo;
bool translated_is_stop(const struct SignalInfo *info);
bool translated_is_leave(const struct SignalInfo *info);

/* ---------------------------------------------------------------------------------------------------------------- the server */

/* Called before the guest gives up rights, or changes what it can reach, so that a server can still be started afterwards (server/keeper.c). */
void translated_before_confinement(Thread *t);
/* The child has descriptors of its own, which are copies of the parent's. */
void translated_copy_descriptors(Thread *child, const Thread *parent);
/* Called before exec: stops the signals of the server's connection, by which the new program would die. */
void translated_before_exec(void);
/* Called around exec: the value of the option `keeper` for the client that exec starts. stays: the descriptor of the keeper stays open over exec. */
u32 translated_hand_on(Thread *t, bool stays);

/* The client's own descriptors, which the guest does not see (server/hidden.c). translated_descriptor returns the lowest that is not below `from`, or
 * -1. translated_make_way moves the client's descriptor away because the guest is going to have this number; false: that is impossible. */
int translated_descriptor(Thread *t, int from);
bool translated_make_way(Thread *t, int fd);

#endif
