/* rest.c: completes a system call that a signal of the client has cut short (see waits.c).
 *
 * A blocking write to a pipe or socket writes everything unless a signal comes; the same is true of the other calls whose row in waits.c
 * has a Rest. A call may also do less than asked for reasons that have nothing to do with signals (the file ends, the socket does not
 * block). Then the call for the rest does nothing, and the guest gets the count it would have got without the signal. */
#include "run/client/memory/space.h"
#include "run/client/os/signal/waits.h"

enum {
    MSG_WAITALL = 0x100,
    MSG_DONTWAIT = 0x40,
    MSG_WAITFORONE = 0x10000,
    SOL_SOCKET = 1,
    SO_TYPE = 3,
    SO_ERROR = 4,
    SOCK_STREAM = 1
};
enum { MESSAGE_BYTES = 64 /* struct mmsghdr */, EVENT_BYTES = 32 /* struct io_event */ };
enum { HEADER_VECTOR = 2, HEADER_COUNT, HEADER_CONTROL, HEADER_CONTROL_SIZE }; /* of struct msghdr, in words */

/* True for /dev/zero, /dev/random and /dev/urandom: a read from them is short only if a signal interrupted it. */
static bool is_endless(int fd) {
    enum { MEMORY_DEVICES = 1, ZERO = 5, RANDOM = 8, URANDOM = 9 };
    struct stat st;
    if (sys_fstat(fd, &st) || (st.st_mode & S_IFMT) != S_IFCHR || st.st_rdev >> 8 != MEMORY_DEVICES)
        return false;
    u32 minor = st.st_rdev & 0xff;
    return minor == ZERO || minor == RANDOM || minor == URANDOM;
}

static i32 socket_option(int fd, u64 option) {
    i32 value = -1;
    u32 size = sizeof(value);
    i64 error = sys5(__NR_getsockopt, (u64)fd, SOL_SOCKET, option, (u64)&value, (u64)&size);
    return error ? -1 : value;
}

/* pair: an address and a size. */
static bool shift_bytes(u64 pair[2], u64 done) {
    if (done >= pair[1])
        return false;
    pair[0] += done;
    pair[1] -= done;
    return true;
}

/* list: the address of an array of iovec and its length. Makes a copy in our memory that leaves out the first `done`
 * bytes. */
static bool shift_vector(u64 list[2], u64 done, struct iovec copy[VECTOR_MAX]) {
    u64 count = list[1], first = 0;
    if (count > VECTOR_MAX)
        return false;
    if (list[0] != (u64)copy && guest_read(list[0], copy, count * sizeof(*copy)) != count * sizeof(*copy))
        return false;
    while (first < count && done >= copy[first].iov_len)
        done -= copy[first++].iov_len;
    if (first == count)
        return false;
    copy[first].iov_base = (u8 *)copy[first].iov_base + done;
    copy[first].iov_len -= done;
    memmove(copy, copy + first, (count - first) * sizeof(*copy));
    list[0] = (u64)copy;
    list[1] = count - first;
    return true;
}

/* Control data such as descriptors goes out with the first byte of a message, so the rest is sent without it. */
static bool shift_message(u64 *message, u64 done, RestRoom *room) {
    if (*message != (u64)room->message &&
        guest_read(*message, room->message, sizeof(room->message)) != sizeof(room->message))
        return false;
    *message = (u64)room->message;
    room->message[HEADER_CONTROL] = room->message[HEADER_CONTROL_SIZE] = 0;
    return shift_vector(&room->message[HEADER_VECTOR], done, room->vector);
}

/* The kernel stores the interruption as an error of the socket and would report it in the next call. The guest must not
 * see it, so it is read here, which clears it. */
static bool shift_messages(u64 number, u64 a[6], u64 done) {
    if (done >= a[2])
        return false;
    a[1] += done * MESSAGE_BYTES;
    a[2] -= done;
    if (number == __NR_recvmmsg) {
        socket_option((int)a[0], SO_ERROR);
        if (a[3] & MSG_WAITFORONE)
            a[3] |= MSG_DONTWAIT;
    }
    return true;
}

/* Into a pipe, sendfile writes only as much as there is room for, so a short count is its normal answer. */
static bool shift_count(u64 number, u64 *count, u64 done, int to) {
    struct stat st;
    *count -= done;
    return *count && !(number == __NR_sendfile && !sys_fstat(to, &st) && (st.st_mode & S_IFMT) == S_IFIFO);
}

/* a: the least and the largest number of events, and the address that they are written to. */
static bool shift_events(u64 a[3], u64 done) {
    if ((i64)a[0] <= (i64)done)
        return false;
    a[0] -= done;
    a[1] -= done;
    a[2] += done * EVENT_BYTES;
    return true;
}

/* The requests were handed over already, so only the wait is made again. The kernel itself sees whether enough events
 * have arrived, and does not wait then. */
static bool waits_for_events(u64 a[6]) {
    a[1] = 0;
    return a[2] && a[3] & IORING_ENTER_GETEVENTS;
}

bool rest_arguments(u64 number, i64 done, u64 a[6], RestRoom *room) {
    const Wait *w = wait_of(number);
    u64 *at = a + w->rest_at;
    if (!done && w->rest != REST_RING)
        return false;
    switch ((Rest)w->rest) {
    case REST_BYTES:
        return shift_bytes(at, (u64)done);
    case REST_DEVICE:
        return at[1] > (u64)done && is_endless((int)a[0]) && shift_bytes(at, (u64)done);
    case REST_WAITALL:
        return a[3] & MSG_WAITALL && socket_option((int)a[0], SO_TYPE) == SOCK_STREAM && shift_bytes(at, (u64)done);
    case REST_VECTOR:
        return shift_vector(at, (u64)done, room->vector);
    case REST_MESSAGE:
        return shift_message(at, (u64)done, room);
    case REST_MESSAGES:
        return shift_messages(number, a, (u64)done);
    case REST_COUNT:
        return shift_count(number, at, (u64)done, (int)a[0]);
    case REST_EVENTS:
        return shift_events(at, (u64)done);
    case REST_RING:
        return waits_for_events(a);
    case REST_CLOSED:
    case REST_NONE:
        break;
    }
    return false;
}
