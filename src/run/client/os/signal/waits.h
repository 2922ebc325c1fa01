/* waits.h: system calls that signals interrupt: how long they still have to wait, and what is left of them to do. See waits.c. */
#ifndef RUN_CLIENT_WAITS_H
#define RUN_CLIENT_WAITS_H

#include <linux/io_uring.h>

#include "run/client/core/client.h"

/* waits.c: a system call for the guest, as syscall_guarded does it, to its end, also if samples and the like interrupt it. */
i64 syscall_repeated(Thread *t, u64 number, const u64 args[6]);

/* How the time limit of a call is given. */
typedef enum TimeUnit { UNTIMED, MILLISECONDS, TIMESPEC, TIMEVAL, RING_TIME } TimeUnit;

/* What is left to do when a call has done less than was asked for because a signal came. */
typedef enum Rest {
    REST_NONE,     /* nothing: such a call does the same without signals */
    REST_BYTES,    /* the bytes behind those that were done */
    REST_DEVICE,   /* likewise, of a device that never ends; elsewhere fewer bytes are all there are */
    REST_WAITALL,  /* likewise, if the guest asked to wait for all of them */
    REST_VECTOR,   /* the rest of a list of buffers */
    REST_MESSAGE,  /* likewise, of a message to send */
    REST_MESSAGES, /* the messages behind those that were done */
    REST_COUNT,    /* the same call with a smaller count: the kernel keeps the position */
    REST_EVENTS,   /* events up to the least number */
    REST_RING,     /* only the wait: the requests were handed over */
    REST_CLOSED,   /* nothing: what was to be closed is closed */
} Rest;

typedef struct Wait {
    u8 unit, time_at; /* TimeUnit, and the argument */
    u8 rest, rest_at; /* Rest, and the argument that it begins with */
    bool never;       /* EINTR after every handler, also with SA_RESTART */
    bool written;     /* the kernel writes the time that is left to where the limit is */
    u8 socket;        /* POLLIN or POLLOUT: a socket may have a time limit for this */
} Wait;

/* The row of a call, by the host's number; a call without a row has an empty one. */
const Wait *wait_of(u64 number);

/* The time limit of one call, as a point in time. */
typedef struct Deadline {
    const Wait *wait;
    bool is_set, used; /* used: the call got `left` in place of the guest's limit */
    i32 clock;
    u64 end_ns;
    u64 left[2]; /* a timespec or timeval */
    struct io_uring_getevents_arg ring;
} Deadline;

/* Before a call: reads its time limit. */
Deadline deadline_of(u64 number, const u64 a[6]);
/* Before the call is made again: changes its arguments so that it waits until the same point in time. */
void deadline_apply(Deadline *d, u64 a[6]);
/* At the end: what the kernel has written of the time that is left goes to the guest. a: the guest's own arguments. */
void deadline_finish(const Deadline *d, const u64 a[6]);

/* rest.c: memory for the arguments of what is left of a call. */
enum { VECTOR_MAX = 1024 }; /* of the kernel: IOV_MAX */
typedef struct RestRoom {
    struct iovec vector[VECTOR_MAX];
    u64 message[7]; /* struct msghdr */
} RestRoom;

/* A call with these arguments has answered `done`. Changes the arguments to those of what is left; false: nothing is. */
bool rest_arguments(u64 number, i64 done, u64 a[6], RestRoom *room);

#endif
