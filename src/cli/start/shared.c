/* shared.c: see shared.h. The password goes into the environment, because every user can see the arguments of processes
 * but only the owner their environment. */
#include "cli/start/shared.h"

#include <stdio.h>
#include <stdlib.h>

#include "cache/address.h"
#include "run/protocol/protocol.h"

#define PASSWORD_VARIABLE "LATHE_REDIS_PASSWORD"

const char *shared_part(const char *choice) {
    while (choice && !address_is_one(choice)) {
        choice = strchr(choice, ',');
        choice += choice != NULL;
    }
    return choice;
}

static const char *missing(const RedisAddress *a) {
#ifndef LATHE_REDIS
    (void)a;
    return "this build of Lathe has no Redis: libhiredis was not there";
#elif !defined(LATHE_TLS)
    return a->tls ? "this build of Lathe has no TLS: OpenSSL was not there" : NULL;
#else
    (void)a;
    return NULL;
#endif
}

/* Returns NULL, or what is wrong. */
static const char *hand_over(RedisAddress *a) {
    const char *given = getenv(PASSWORD_VARIABLE);
    if (!*a->password && given) {
        if (strlen(given) >= sizeof(a->password))
            return "the password of " PASSWORD_VARIABLE " is too long";
        strcpy(a->password, given);
    }
    if (*a->user && !*a->password)
        return "there is a user, but no password";
    if (*a->password)
        setenv(SHARED_SECRET, a->password, 1);
    return NULL;
}

bool shared_prepare(const char *choice, char *address, size_t size) {
    const char *part = shared_part(choice);
    RedisAddress a;
    *address = 0;
    unsetenv(SHARED_SECRET);
    if (!part)
        return true;
    const char *wrong = address_parse(part, &a);
    if (!wrong)
        wrong = missing(&a);
    if (!wrong)
        wrong = hand_over(&a);
    if (!wrong && !address_format(&a, address, size))
        wrong = "the address is too long";
    if (wrong)
        fprintf(stderr, "lathe: the shared cache: %s\n", wrong);
    return !wrong;
}
