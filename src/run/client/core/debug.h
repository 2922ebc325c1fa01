/* debug.h: what the rest of the client tells a debugger (gdb) that is connected to the guest (lathe run -g). The folder debug has these functions;
 * folders below it call them.
 *
 * With a debugger there is only quick code, which has the guest's exact state between any two instructions. */
#ifndef RUN_CLIENT_DEBUG_H
#define RUN_CLIENT_DEBUG_H

#include "run/client/core/client.h"

struct SignalInfo;

/* How far a thread is with a single step that the debugger has asked for. */
typedef enum DebugStep {
    STEP_NONE,
    STEP_WANTED, /* the thread is stopped, or on its way to quick code */
    STEP_ARMED,  /* the host steps; the guest's instruction has not begun */
    STEP_BEGUN,
    STEP_DONE, /* the debugger is to be told */
} DebugStep;

static inline bool debug_is_active(void) {
    return the.opt.debugger;
}

/* Before the guest's first instruction. */
void debug_begin(Thread *t);
/* Called when there may be something to tell the debugger, with the thread's state whole and the flags in `cpu`. Returns when the thread may go on. */
void debug_attend(Thread *t);
/* The same in a system call that waits, between two attempts. */
void debug_attend_in_call(Thread *t);
/* The guest is about to get a signal, which the debugger may change or take away (false). */
bool debug_signal(Thread *t, struct SignalInfo *info);

/* The thread is about to go on in quick code, and a step is wanted. */
void debug_arm(Thread *t);
/* Two signals of the client's own. debug_arm sends the first one to the thread itself, so that the handler makes the host single-step. The second one
 * says that the debugger has sent something. */
bool debug_is_arming(const struct SignalInfo *info);
bool debug_has_sent(const struct SignalInfo *info);
/* In the handler: the thread has to come to debug_attend if this is true. */
bool debug_note_message(Thread *t);
/* In the handler: the host has made a step, to the boundary of a guest instruction, or out of quick code. Returns true if it is to make another one. */
bool debug_steps_on(Thread *t, bool boundary, bool outside);

/* The process ends, by itself or by a signal. */
void debug_exited(Thread *t, int status);
void debug_died(Thread *t, u32 sig);
/* The child of vfork, which has the same memory and is not debugged, is gone. */
void debug_after_vfork(Thread *t);
/* A process that fork has made is not debugged. */
void debug_after_fork(void);
/* Called around exec: the connection stays open for the new client (`stays`), or not. */
void debug_hand_on(bool stays);
/* The descriptor of the connection, which the guest does not see; NULL: there is none. */
int *debug_descriptor(void);

#endif
