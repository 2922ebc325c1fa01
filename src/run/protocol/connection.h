/* connection.h: messages on a socket, or on two pipes, for programs with a libc. */
#ifndef RUN_CONNECTION_H
#define RUN_CONNECTION_H

#include "run/protocol/protocol.h"

typedef struct Connection {
    int fd;
    int out;    /* the descriptor for answers if it is not fd; 0: fd */
    u8 *buffer; /* payload of the last message received */
    size_t capacity;
} Connection;

/* Receives the next message. Returns false if the peer is gone or sent something that is not a message. */
bool connection_receive(Connection *c, MessageHeader *header);
/* Sends a message of two parts. Returns false if the peer is gone. */
bool connection_send(Connection *c, MessageType type, const void *a, size_t a_size, const void *b, size_t b_size);

#endif
