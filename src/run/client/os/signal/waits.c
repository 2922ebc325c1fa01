/* waits.c: repeats those system calls of the guest that only signals of the client have interrupted.
 *
 * Samples, messages of the server (tier.c, remote.c) and requests to stop (code/quick/halt.c) come as signals at any time. When a handler
 * is to run, the kernel ends a system call that waits: with EINTR, or with less done than was asked for. The guest must see nothing of
 * that. So the client's handlers have no SA_RESTART, and every call that they interrupt returns to this file:
 *
 *     what has happened                     what is done here
 *     the call answered EINTR               it is made again, and waits until the same point in time as the first one
 *     the call did a part of its work       the rest is done (rest.c)
 *     a signal of the guest came as well    the call answers EINTR, or begins anew after the guest's handler, as in the kernel
 *
 * The table has a row for each call that needs more than to be made again. Which calls answer EINTR even after handlers with SA_RESTART
 * is in signal(7), "Interruption of system calls and library functions by signal handlers". Calls whose limit is a point in time (futex
 * FUTEX_WAIT_BITSET, mq_timedsend, clock_nanosleep with TIMER_ABSTIME, futex_waitv) need no row. Nor do splice, tee, vmsplice and reads
 * from pipes, sockets and terminals: they move as much as there is, with or without signals, and programs expect that. */
#include "run/client/os/signal/waits.h"

#include <linux/futex.h>

#include "run/client/core/debug.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"
#include "run/client/os/signal/signal.h"

enum {
    MONOTONIC = 1,
    REALTIME = 0,
    TAI = 11,
    ABSOLUTE = 1 /* of clock_nanosleep */,
    SOL_SOCKET = 1,
    SO_RCVTIMEO = 20,
    SO_SNDTIMEO = 21
};
enum { NS = 1000000000, NS_OF_MS = 1000000, NS_OF_US = 1000 };

// clang-format off
static const Wait waits[] = {
    /*                         unit,         time_at                                                                      */
    [__NR_poll]             = {MILLISECONDS, 2, .never = true},
    [__NR_epoll_wait]       = {MILLISECONDS, 3, .never = true},
    [__NR_epoll_pwait]      = {MILLISECONDS, 3, .never = true},
    [__NR_epoll_pwait2]     = {TIMESPEC,     3, .never = true},
    [__NR_ppoll]            = {TIMESPEC,     2, .never = true, .written = true},
    [__NR_pselect6]         = {TIMESPEC,     4, .never = true, .written = true},
    [__NR_select]           = {TIMEVAL,      4, .never = true, .written = true},
    [__NR_nanosleep]        = {TIMESPEC,     0, .never = true},
    [__NR_clock_nanosleep]  = {TIMESPEC,     2, .never = true},
    [__NR_futex]            = {TIMESPEC,     3}, /* without a time limit it begins anew after a handler */
    [__NR_semtimedop]       = {TIMESPEC,     3, .never = true},
    [__NR_rt_sigtimedwait]  = {TIMESPEC,     2, .never = true},
    [__NR_io_getevents]     = {TIMESPEC,     4, REST_EVENTS,   1, .never = true},
    [__NR_io_pgetevents]    = {TIMESPEC,     4, REST_EVENTS,   1, .never = true},
    [__NR_io_uring_enter]   = {RING_TIME,    4, REST_RING,     1, .never = true},
    [__NR_recvmmsg]         = {TIMESPEC,     4, REST_MESSAGES, 1, .written = true, .socket = POLLIN},
    [__NR_pause]            = {.never = true},
    [__NR_rt_sigsuspend]    = {.never = true},
    [__NR_semop]            = {.never = true},
    [__NR_msgsnd]           = {.never = true},
    [__NR_msgrcv]           = {.never = true},
    [__NR_accept]           = {.socket = POLLIN},
    [__NR_accept4]          = {.socket = POLLIN},
    [__NR_connect]          = {.socket = POLLOUT},
    [__NR_read]             = {.rest = REST_DEVICE,   .rest_at = 1, .socket = POLLIN},
    [__NR_readv]            = {.socket = POLLIN},
    [__NR_recvfrom]         = {.rest = REST_WAITALL,  .rest_at = 1, .socket = POLLIN},
    [__NR_recvmsg]          = {.socket = POLLIN},
    [__NR_write]            = {.rest = REST_BYTES,    .rest_at = 1, .socket = POLLOUT},
    [__NR_sendto]           = {.rest = REST_BYTES,    .rest_at = 1, .socket = POLLOUT},
    [__NR_getrandom]        = {.rest = REST_BYTES,    .rest_at = 0},
    [__NR_writev]           = {.rest = REST_VECTOR,   .rest_at = 1, .socket = POLLOUT},
    [__NR_sendmsg]          = {.rest = REST_MESSAGE,  .rest_at = 1, .socket = POLLOUT},
    [__NR_sendmmsg]         = {.rest = REST_MESSAGES, .rest_at = 1, .socket = POLLOUT},
    [__NR_sendfile]         = {.rest = REST_COUNT,    .rest_at = 3},
    [__NR_copy_file_range]  = {.rest = REST_COUNT,    .rest_at = 4},
    [__NR_close]            = {.rest = REST_CLOSED},
};
// clang-format on

const Wait *wait_of(u64 number) {
    static const Wait plain;
    return number < ARRAY_LEN(waits) ? &waits[number] : &plain;
}

/* ---------------------------------------------------------------------------------------------------------------- time */

static u64 now_ns(i32 clock) {
    struct timespec now = {0};
    sys_clock_gettime(clock, &now);
    return (u64)now.tv_sec * NS + (u64)now.tv_nsec;
}

static bool is_futex_wait(u64 operation) {
    u32 command = operation & FUTEX_CMD_MASK;
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

/* The clock that the remaining time is measured by. A relative wait is not shortened when somebody sets the clock, so
 * clocks that can be set are replaced by the monotonic one. */
static i32 clock_of(u64 number, const u64 a[6]) {
    i32 clock = number == __NR_clock_nanosleep ? (i32)a[0] : MONOTONIC;
    return clock == REALTIME || clock == TAI ? MONOTONIC : clock;
}

/* True if the call's time limit counts from when the call begins. Invalid limits are left to the kernel, which answers
 * with the right error. */
static bool is_relative(u64 number, const u64 a[6]) {
    if (number == __NR_futex)
        return (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
    if (number == __NR_clock_nanosleep)
        return !(a[1] & ABSOLUTE);
    enum { A_POINT_IN_TIME = 1 << 5, REGISTERED = 1 << 6 }; /* IORING_ENTER_ABS_TIMER, IORING_ENTER_EXT_ARG_REG */
    return number != __NR_io_uring_enter ||
           (a[3] & (IORING_ENTER_EXT_ARG | A_POINT_IN_TIME | REGISTERED)) == IORING_ENTER_EXT_ARG;
}

/* Reads a limit from a timespec or timeval in the guest's memory. */
static bool read_limit(u64 from, u64 unit_ns, u64 *ns) {
    i64 limit[2];
    const i64 longest = INT64_MAX / 2 / NS;
    if (!from || guest_read(from, limit, sizeof(limit)) != sizeof(limit) || limit[0] < 0 || limit[1] < 0 ||
        (u64)limit[1] * unit_ns >= NS || limit[0] > longest)
        return false;
    *ns = (u64)limit[0] * NS + (u64)limit[1] * unit_ns;
    return true;
}

static bool read_ring_limit(Deadline *d, const u64 a[6], u64 *ns) {
    return a[5] == sizeof(d->ring) && guest_read(a[4], &d->ring, sizeof(d->ring)) == sizeof(d->ring) &&
           read_limit(d->ring.ts, 1, ns);
}

/* Reads the call's time limit. Returns false if the call waits without a limit, or does not wait. */
static bool read_time(Deadline *d, const u64 a[6], u64 *ns) {
    u64 value = a[d->wait->time_at];
    switch ((TimeUnit)d->wait->unit) {
    case UNTIMED:
        return false;
    case MILLISECONDS:
        *ns = (u64)(i32)value * NS_OF_MS;
        return (i32)value > 0;
    case TIMESPEC:
        return read_limit(value, 1, ns);
    case TIMEVAL:
        return read_limit(value, NS_OF_US, ns);
    case RING_TIME:
        return read_ring_limit(d, a, ns);
    }
    return false;
}

Deadline deadline_of(u64 number, const u64 a[6]) {
    Deadline d = {.wait = wait_of(number)};
    u64 ns;
    if (d.wait->unit == UNTIMED || !is_relative(number, a) || !read_time(&d, a, &ns))
        return d;
    d.is_set = true;
    d.clock = clock_of(number, a);
    d.end_ns = now_ns(d.clock) + ns;
    return d;
}

static u64 left_ns(const Deadline *d) {
    u64 now = now_ns(d->clock);
    return now < d->end_ns ? d->end_ns - now : 0;
}

void deadline_apply(Deadline *d, u64 a[6]) {
    if (!d->is_set || d->wait->unit == UNTIMED)
        return;
    u64 ns = left_ns(d), unit_ns = d->wait->unit == TIMEVAL ? NS_OF_US : 1;
    d->used = true;
    d->left[0] = ns / NS;
    d->left[1] = ns % NS / unit_ns;
    if (d->wait->unit == MILLISECONDS)
        a[d->wait->time_at] = (ns + NS_OF_MS - 1) / NS_OF_MS;
    else if (d->wait->unit == RING_TIME)
        d->ring.ts = (u64)d->left, a[d->wait->time_at] = (u64)&d->ring;
    else
        a[d->wait->time_at] = (u64)d->left;
}

/* guest_write is used because the guest may keep its limit in memory that cannot be written. */
void deadline_finish(const Deadline *d, const u64 a[6]) {
    if (d->used && d->wait->written)
        guest_write(a[d->wait->time_at], d->left, sizeof(d->left));
}

/* -------------------------------------------------------------------------------------------------------------- sockets */

/* The time limit that this socket has for such calls, or 0 if it has none or `fd` is not a socket. */
static u64 socket_limit_ns(const Wait *w, int fd) {
    struct {
        i64 seconds, us;
    } limit = {0};
    u32 size = sizeof(limit);
    u64 option = w->socket == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO;
    if (!w->socket || sys5(__NR_getsockopt, (u64)fd, SOL_SOCKET, option, (u64)&limit, (u64)&size))
        return 0;
    return (u64)limit.seconds * NS + (u64)limit.us * NS_OF_US;
}

/* If the socket has a time limit, waits until the call can be made again. The kernel does not tell when the wait began,
 * so the limit counts from the first interruption. Returns 0 if the call is to be made again, otherwise the call's
 * result. */
static i64 await_socket(Thread *t, Deadline *d, u64 number, int fd) {
    u64 limit = d->is_set ? 0 : socket_limit_ns(d->wait, fd);
    if (limit)
        *d = (Deadline){.wait = d->wait, .is_set = true, .clock = MONOTONIC, .end_ns = now_ns(MONOTONIC) + limit};
    if (!d->is_set || d->wait->unit != UNTIMED)
        return 0;
    struct pollfd ready = {.fd = fd, .events = d->wait->socket};
    u64 left = left_ns(d), left_time[2] = {left / NS, left % NS}; /* struct timespec */
    i64 count = syscall_repeated(t, __NR_ppoll, (const u64[6]){(u64)&ready, 1, (u64)left_time});
    if (count == 0)
        return number == __NR_connect ? -EINPROGRESS : -EAGAIN;
    return count > 0 ? 0 : -EINTR;
}

/* ---------------------------------------------------------------------------------------------------------------- again */

static i64 once(Thread *t, u64 number, const u64 a[6]) {
    t->process.repeat = false;
    return syscall_guarded(&t->pending_signals, number, a);
}

/* True if the call was interrupted only by signals that the guest does not see. */
static bool unseen(const Thread *t) {
    return t->process.repeat && !t->pending_signals;
}

/* True if the call answers EINTR after every handler, even one with SA_RESTART. A futex wait with any time limit does
 * so, including a limit that is a point in time. */
static bool never_restarts(const Deadline *d, u64 number, const u64 a[6]) {
    return d->wait->never || d->is_set || (number == __NR_futex && a[3] && is_futex_wait(a[1]));
}

/* The result of a call that had begun when a signal for a handler of the guest came. */
static i64 interrupted(const Thread *t, const Deadline *d, u64 number, const u64 a[6]) {
    return signal_restarts(t) && !never_restarts(d, number, a) ? SYSCALL_RESTART : -EINTR;
}

static i64 made_again(Thread *t, Deadline *d, u64 number, u64 a[6]) {
    i64 result = -EINTR;
    while (result == -EINTR && unseen(t)) {
        debug_attend_in_call(t);
        result = await_socket(t, d, number, (int)a[0]);
        if (result)
            return result;
        deadline_apply(d, a);
        result = once(t, number, a);
    }
    if (result == -EAGAIN && number == __NR_futex && is_futex_wait(a[1]))
        return 0; /* the futex's word has changed since the wait began, and the thread that changed it wakes those that wait */
    bool ours = t->process.repeat || (t->pending_signals & signal_ours());
    return result == SYSCALL_RESTART || (result == -EINTR && ours) ? interrupted(t, d, number, a) : result;
}

/* Does the rest of a call that has done a part of its work. If the rest fails, the part still counts and is the result. */
static i64 finished(Thread *t, Deadline *d, u64 number, u64 a[6], i64 done) {
    RestRoom room;
    i64 result = done;
    while (unseen(t) && rest_arguments(number, result, a, &room)) {
        deadline_apply(d, a);
        result = once(t, number, a);
        if (result == -EINTR && unseen(t))
            result = made_again(t, d, number, a);
        if (result < 0)
            break;
        done += result;
    }
    return done;
}

i64 syscall_repeated(Thread *t, u64 number, const u64 a[6]) {
    Deadline d = deadline_of(number, a);
    i64 result = once(t, number, a);
    bool ours = t->process.repeat || (t->pending_signals & signal_ours());
    if (!ours)
        return result;
    if (d.wait->rest == REST_CLOSED)
        return result == -EINTR ? 0 : result;
    u64 args[6];
    memcpy(args, a, sizeof(args));
    if (result == -EINTR)
        result = made_again(t, &d, number, args);
    if (result >= 0)
        result = finished(t, &d, number, args, result);
    deadline_finish(&d, a);
    return result;
}
