/* channel.h: a TCP connection, with or without TLS, whose operations all have a time limit. */
#ifndef CACHE_CHANNEL_H
#define CACHE_CHANNEL_H

#include "cache/address.h"

typedef struct Channel {
    int fd;
    void *tls;       /* an SSL; NULL: no TLS */
    u64 deadline_us; /* when waiting ends: see channel_allow */
    char why[128];   /* the reason of a failure, as a phrase */
} Channel;

/* Connects a zeroed Channel. Returns false with the reason in c->why. Call channel_close in both cases. `limit_ms`
 * holds for each of two steps: finding and reaching the host, and the handshake of TLS. */
bool channel_open(Channel *c, const RedisAddress *to, u32 limit_ms);
/* Sets the time limit for the operations that follow. */
void channel_allow(Channel *c, u32 limit_ms);
bool channel_write(Channel *c, const void *data, size_t size);
/* Reads at least one byte and at most `size`. Returns 0 after a failure. */
size_t channel_read(Channel *c, void *buf, size_t size);
void channel_close(Channel *c);

u64 channel_now_us(void);

#endif
