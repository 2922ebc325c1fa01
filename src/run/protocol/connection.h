/* connection.h: messages on a socket, or on two pipes, for programs with a libc. */
#ifndef RUN_CONNECTION_H
#define RUN_CONNECTION_H

#include "run/protocol/protocol.h"

typedef struct Connection {
    int fd;
    int out;    /* where answers go, if that is another descriptor; 0: fd */
    u8 *buffer; /* payload of the last message received */
    size_t capacity;
} Connection;

/* The next message; false if the peer is gone or sent what no message can be. */
bool connection_receive(Connection *c, MessageHeader *header);
/* A message of two parts; false if the peer is gone. */
bool connection_send(Connection *c, MessageType type, const void *a, size_t a_size, const void *b, size_t b_size);

#endif
