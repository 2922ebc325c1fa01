/* stub.h: talks with a debugger while the guest is stopped. */
#ifndef RUN_CLIENT_DEBUG_STUB_H
#define RUN_CLIENT_DEBUG_STUB_H

#include "run/client/core/client.h"

/* Why a thread has stopped. */
typedef struct Stop {
    u32 signal;       /* 0: the guest has just begun, and the debugger has not asked for anything yet */
    bool breakpoint;  /* at one of the debugger's */
    u64 watched;      /* memory that it watches has changed; 0: no */
    bool executed;    /* the process has become another program */
    const void *info; /* the siginfo of the signal; NULL: there is none */
} Stop;

/* Tells the debugger of the stop, and does what it asks for until it lets the guest go on. Afterwards Thread.debug of each thread says whether it
 * goes on, and how; Thread.debug.signal of the thread that has stopped is the signal that the guest gets, 0: none. */
void stub_talk(Thread *t, const Stop *stop);
/* True if the guest gets this signal without a stop, as the debugger has asked for (QPassSignals). */
bool stub_passes(u32 sig);
u32 stub_number(u32 sig); /* gdb's number of a signal */
/* Sends the last packet, with this text. */
void stub_tell_end(const char *text);
/* Closes the connection, and lets the guest go on without a debugger. */
void stub_detach(void);

#endif
