/* resolve.h: finds the addresses of a host in bounded time; a name server that does not answer would take long. */
#ifndef CACHE_RESOLVE_H
#define CACHE_RESOLVE_H

#include <netdb.h>

#include "base/base.h"

/* Returns addresses for freeaddrinfo, or NULL with the reason in *why. */
struct addrinfo *resolve_host(const char *host, u32 port, u32 limit_ms, const char **why);

#endif
