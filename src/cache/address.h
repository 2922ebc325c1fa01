/* address.h: where a shared cache is: redis[s]://[USER@|[USER]:PASSWORD@]HOST[:PORT][/DB]. */
#ifndef CACHE_ADDRESS_H
#define CACHE_ADDRESS_H

#include "base/base.h"

enum { ADDRESS_SIZE = 256 }; /* size of each text */

typedef struct RedisAddress {
    bool tls;
    u32 port, db;
    char host[ADDRESS_SIZE], user[ADDRESS_SIZE], password[ADDRESS_SIZE];
} RedisAddress;

/* True if the text begins like such an address. */
bool address_is_one(const char *text);
/* Returns NULL, or what is wrong with the text. User and password may contain any character as %XX. */
const char *address_parse(const char *text, RedisAddress *a);
/* Writes the address without its password, in the form that address_parse reads. Returns false if it does not fit. */
bool address_format(const RedisAddress *a, char *text, size_t size);

#endif
