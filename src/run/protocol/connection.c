/* connection.c: see connection.h. Programs that use it ignore SIGPIPE. */
#include "run/protocol/connection.h"
#include "run/protocol/message.h"

#include <errno.h>
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

static bool send_all(int fd, const void *buf, size_t size) {
    const u8 *at = buf;
    while (size) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
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
    int fd = c->out ? c->out : c->fd;
    return send_all(fd, &header, sizeof(header)) && send_all(fd, a, a_size) && send_all(fd, b, b_size);
}
