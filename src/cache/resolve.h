/* resolve.h: the addresses of a host, in bounded time: a name server that does not answer would hold us up for long. */
#ifndef CACHE_RESOLVE_H
#define CACHE_RESOLVE_H

#include <netdb.h>

#include "base/base.h"

/* For freeaddrinfo; NULL: none found, and *why says so. */
struct addrinfo *resolve_host(const char *host, u32 port, u32 limit_ms, const char **why);

#endif
