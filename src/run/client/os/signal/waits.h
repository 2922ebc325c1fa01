/* waits.h: system calls that signals interrupt: how long they still have to wait, and what they still have to do. See
 * waits.c. */
#ifndef RUN_CLIENT_WAITS_H
#define RUN_CLIENT_WAITS_H

#include <linux/io_uring.h>

#include "run/client/core/client.h"

/* waits.c: makes a system call for the guest as syscall_guarded does, and completes it if samples or other signals of
 * the client interrupt it. */
i64 syscall_repeated(Thread *t, u64 number, const u64 args[6]);

/* How a call is given its time limit. */
typedef enum TimeUnit { UNTIMED, MILLISECONDS, TIMESPEC, TIMEVAL, RING_TIME } TimeUnit;

/* What is still to be done when a signal has ended a call early. */
typedef enum Rest {
    REST_NONE,  /* nothing: such a call may return early without signals, too */
    REST_BYTES, /* the bytes behind those that are done */
    REST_DEVICE, /* likewise, if the file is a device that never ends; otherwise a short read is an answer like any other */
    REST_WAITALL,  /* likewise, if the guest asked to wait for all bytes (MSG_WAITALL) */
    REST_VECTOR,   /* the rest of an array of buffers */
    REST_MESSAGE,  /* the rest of a message that is sent */
    REST_MESSAGES, /* the messages behind those that are done */
    REST_COUNT,    /* the same call with a smaller count, because the kernel keeps the position */
    REST_EVENTS,   /* events, until there are as many as the guest wants at least */
    REST_RING,     /* only the wait, because the requests were handed over */
    REST_CLOSED,   /* nothing: the descriptor is closed all the same */
} Rest;

typedef struct Wait {
    u8 unit, time_at; /* a TimeUnit, and which argument has the time limit */
    u8 rest, rest_at; /* a Rest, and the first of the arguments that it changes */
    bool never;       /* the call answers EINTR after every handler, even with SA_RESTART */
    bool written;     /* the kernel writes the remaining time to where the limit was */
    u8 socket;        /* POLLIN or POLLOUT if a socket may have a time limit for this call */
} Wait;

/* The row of a call, by the host's number. A call without a row has an empty one. */
const Wait *wait_of(u64 number);

/* The time limit of one call, kept as a point in time. */
typedef struct Deadline {
    const Wait *wait;
    bool is_set, used; /* used: the call got `left` in place of the guest's own limit */
    i32 clock;
    u64 end_ns;
    u64 left[2]; /* the remaining time as a timespec or timeval */
    struct io_uring_getevents_arg ring;
} Deadline;

/* Before a call: reads its time limit. */
Deadline deadline_of(u64 number, const u64 a[6]);
/* Before the call is made again: changes its arguments so that it waits until the same point in time as before. */
void deadline_apply(Deadline *d, u64 a[6]);
/* After the call: writes the remaining time to the guest if the kernel would. a: the guest's own arguments. */
void deadline_finish(const Deadline *d, const u64 a[6]);

/* rest.c: memory for the arguments of the call that does the rest. */
enum { VECTOR_MAX = 1024 }; /* the kernel's IOV_MAX */
typedef struct RestRoom {
    struct iovec vector[VECTOR_MAX];
    u64 message[7]; /* struct msghdr */
} RestRoom;

/* A call with the arguments `a` has answered `done`. Changes them into the arguments of the call that does the rest.
 * Returns false if there is nothing left to do. */
bool rest_arguments(u64 number, i64 done, u64 a[6], RestRoom *room);

#endif
