/* message.h: the headers of messages. They have sums of themselves and of what follows, so that bytes that were damaged on the way, or are of
 * something else, end the connection: an object is code that will be run. The client uses this, too, which has no C library. */
#ifndef RUN_MESSAGE_H
#define RUN_MESSAGE_H

#include "run/protocol/protocol.h"

#define MESSAGE_SUM 0xcbf29ce484222325u

/* Adds bytes to a sum (FNV-1a). Two inputs that differ in one byte, or in some that follow each other, never or hardly ever have the same. */
static inline u64 message_sum(u64 sum, const void *data, size_t size) {
    for (const u8 *at = data, *end = at + size; at < end; at++)
        sum = (sum ^ *at) * 0x100000001b3u;
    return sum;
}

/* The header of a message whose payload has two parts. */
static inline MessageHeader message_header(MessageType type, const void *a, size_t a_size, const void *b,
                                           size_t b_size) {
    MessageHeader h = {.type = type, .size = (u32)(a_size + b_size)};
    h.sum = message_sum(message_sum(MESSAGE_SUM, a, a_size), b, b_size);
    h.head_sum = message_sum(MESSAGE_SUM, &h, offsetof(MessageHeader, head_sum));
    return h;
}

/* False: the bytes are not a header, so the number of those that follow is not known. */
static inline bool message_is_header(const MessageHeader *h) {
    return h->size <= MESSAGE_MAX && h->head_sum == message_sum(MESSAGE_SUM, h, offsetof(MessageHeader, head_sum));
}

static inline bool message_is_whole(const MessageHeader *h, const void *payload) {
    return h->sum == message_sum(MESSAGE_SUM, payload, h->size);
}

#endif
