/* shared.h: a shared cache as --cache names it: [DIR,|none,]redis://… */
#ifndef CLI_SHARED_H
#define CLI_SHARED_H

#include "base/base.h"

/* The address within what --cache was given; NULL: there is none. What is before it, without its comma, is the local cache. */
const char *shared_part(const char *choice);

/* The address without its password, or an empty text if there is none. The password, from there or from LATHE_REDIS_PASSWORD,
 * becomes a variable of the environment for the client. False, after a message: the address makes no sense, or this build has
 * no such cache. */
bool shared_prepare(const char *choice, char *address, size_t size);

#endif
