/* connection.c: see connection.h. Programs that use it ignore SIGPIPE. */
#include "run/protocol/connection.h"
#include "run/protocol/message.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

static bool receive_all(int fd, void *buf, size_t size) {
    u8 *at = buf;
    while (size) {
        ssize_t n = read(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* All parts go out by one call, if the peer takes them: a handler of a signal that sends a message of its own (bound.c) comes before or behind this one. */
static bool send_all(int fd, struct iovec *parts, int count) {
    while (count) {
        ssize_t n = writev(fd, parts, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        for (; count && (size_t)n >= parts->iov_len; parts++, count--)
            n -= (ssize_t)parts->iov_len;
        if (count)
            *parts = (struct iovec){(u8 *)parts->iov_base + n, parts->iov_len - (size_t)n};
    }
    return true;
}

bool connection_receive(Connection *c, MessageHeader *header) {
    if (!receive_all(c->fd, header, sizeof(*header)) || !message_is_header(header))
        return false;
    c->buffer = vec_reserve(c->buffer, &c->capacity, header->size + 1, 1);
    return receive_all(c->fd, c->buffer, header->size) && message_is_whole(header, c->buffer);
}

bool connection_send(Connection *c, MessageType type, const void *a, size_t a_size, const void *b, size_t b_size) {
    MessageHeader header = message_header(type, a, a_size, b, b_size);
    struct iovec parts[] = {{&header, sizeof(header)}, {(void *)a, a_size}, {(void *)b, b_size}};
    return send_all(c->out ? c->out : c->fd, parts, ARRAY_LEN(parts));
}
