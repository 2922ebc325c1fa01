/* shared.c: see shared.h. Password and key go into the environment, because every user can see the arguments of processes
 * but only the owner their environment. */
#include "cli/start/shared.h"

#include <stdio.h>
#include <stdlib.h>

#include "cache/address.h"
#include "cli/start/team_key.h"
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

/* The form in which the client's environment has both: SharedMessage's key, a space, its password. */
static void hand_over(const RedisAddress *a, const TeamKey *key) {
    char both[sizeof(key->text) + sizeof(a->password)];
    snprintf(both, sizeof(both), "%s %s", key->text, a->password);
    if (*key->text || *a->password)
        setenv(SHARED_SECRET, both, 1);
}

/* Returns NULL, or what is wrong. */
static const char *find_password(RedisAddress *a) {
    const char *given = getenv(PASSWORD_VARIABLE);
    if (!*a->password && given) {
        if (strlen(given) >= sizeof(a->password))
            return "the password of " PASSWORD_VARIABLE " is too long";
        strcpy(a->password, given);
    }
    if (*a->user && !*a->password)
        return "there is a user, but no password";
    return NULL;
}

/* Returns false after a message. */
static bool find_key(const char *file, TeamKey *key) {
    char why[TEAM_KEY_WHY];
    bool found = team_key_find(file, key, why);
    if (!found)
        fprintf(stderr, "lathe: the key of the shared cache: %s\n", why);
    return found;
}

/* The program that is started has no business with either. */
static void forget_variables(void) {
    unsetenv(PASSWORD_VARIABLE);
    unsetenv(TEAM_KEY_VARIABLE);
}

static bool prepare(const char *choice, const char *key_file, char *address, size_t size) {
    const char *part = shared_part(choice);
    RedisAddress a;
    TeamKey key;
    *address = 0;
    unsetenv(SHARED_SECRET);
    if (!part)
        return true;
    const char *wrong = address_parse(part, &a);
    if (!wrong)
        wrong = missing(&a);
    if (!wrong)
        wrong = find_password(&a);
    if (!wrong && !address_format(&a, address, size))
        wrong = "the address is too long";
    if (wrong)
        fprintf(stderr, "lathe: the shared cache: %s\n", wrong);
    if (wrong || !find_key(key_file, &key))
        return false;
    if (!*key.text)
        fprintf(
            stderr,
            "lathe: the shared cache %s is used without a key (--cache-key): who may write to it can run code here\n",
            address);
    hand_over(&a, &key);
    return true;
}

bool shared_prepare(const char *choice, const char *key_file, char *address, size_t size) {
    bool ok = prepare(choice, key_file, address, size);
    forget_variables();
    return ok;
}
