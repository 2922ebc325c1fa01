/* address.h: where a shared cache is: redis[s]://[USER@|[USER]:PASSWORD@]HOST[:PORT][/DB]. */
#ifndef CACHE_ADDRESS_H
#define CACHE_ADDRESS_H

#include "base/base.h"

enum { ADDRESS_SIZE = 256 }; /* of each text */

typedef struct RedisAddress {
    bool tls;
    u32 port, db;
    char host[ADDRESS_SIZE], user[ADDRESS_SIZE], password[ADDRESS_SIZE];
} RedisAddress;

/* Does the text begin as such an address does? */
bool address_is_one(const char *text);
/* NULL, or what is wrong with it. User and password may have any character as %XX. */
const char *address_parse(const char *text, RedisAddress *a);
/* The address without its password, as address_parse reads it; false: it does not fit. */
bool address_format(const RedisAddress *a, char *text, size_t size);

#endif
