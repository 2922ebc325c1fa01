/* shared.h: a shared cache as --cache names it: [DIR,|none,]redis://… */
#ifndef CLI_SHARED_H
#define CLI_SHARED_H

#include "base/base.h"

/* The address in the argument of --cache, or NULL. What is before it, without the comma, is the local cache. */
const char *shared_part(const char *choice);

/* Gets the address without its password, or an empty text if there is none. The password, from the address or from
 * LATHE_REDIS_PASSWORD, and the key that entries are signed with, from `key_file` (NULL: none) or LATHE_CACHE_SECRET, are put into a variable
 * of the environment for the client. Without a key there is a line of warning. Returns false after a message if the address or the key
 * is not valid, or this build has no shared cache. */
bool shared_prepare(const char *choice, const char *key_file, char *address, size_t size);

#endif
