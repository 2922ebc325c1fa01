/* stub.h: talks with a debugger while the guest is stopped. */
#ifndef RUN_CLIENT_DEBUG_STUB_H
#define RUN_CLIENT_DEBUG_STUB_H

#include "run/client/core/client.h"

/* Why a thread has stopped. */
typedef struct Stop {
    u32 signal;       /* 0: the guest has just begun: nobody waits for an answer */
    bool breakpoint;  /* at one of the debugger's */
    u64 watched;      /* memory that it watches has changed; 0: no */
    bool executed;    /* the process has become another program */
    const void *info; /* the siginfo of the signal; NULL: there is none */
} Stop;

/* Tells the debugger of the stop, and does what it asks for until it lets the guest go on. Which threads do, and how, is in their Thread.debug; Thread.debug.signal of
 * the one that has stopped is the signal that the guest gets, 0: none. */
void stub_talk(Thread *t, const Stop *stop);
/* Does the guest get this signal without the debugger being told? */
bool stub_passes(u32 sig);
u32 stub_number(u32 sig); /* gdb's number of a signal */
/* The last message: text is that of the packet. */
void stub_tell_end(const char *text);
/* The connection is given up, and the guest goes on alone. */
void stub_detach(void);

#endif
