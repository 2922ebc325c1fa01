/* channel.h: a TCP connection, with or without TLS, on which nothing takes longer than it may. */
#ifndef CACHE_CHANNEL_H
#define CACHE_CHANNEL_H

#include "cache/address.h"

typedef struct Channel {
    int fd;
    void *tls;       /* SSL; NULL: none */
    u64 deadline_us; /* when waiting ends: see channel_allow */
    char why[128];   /* after a failure: a phrase */
} Channel;

/* A zeroed Channel becomes a connection; false: see why. After either, channel_close. The two steps have `limit_ms` each:
 * finding the host and reaching it, and the handshake of TLS. */
bool channel_open(Channel *c, const RedisAddress *to, u32 limit_ms);
/* What follows has to be done in this time. */
void channel_allow(Channel *c, u32 limit_ms);
bool channel_write(Channel *c, const void *data, size_t size);
/* At least one byte, at most size; 0: failed. */
size_t channel_read(Channel *c, void *buf, size_t size);
void channel_close(Channel *c);

u64 channel_now_us(void);

#endif
