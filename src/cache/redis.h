/* redis.h: a Redis server as a store of values by key. All operations have short time limits. */
#ifndef CACHE_REDIS_H
#define CACHE_REDIS_H

#include "cache/address.h"

/* The time limit of connecting, of the login, and of each command. A server that answers each time, but slowly, would
 * hold up a run without end. So the time that commands take beyond REDIS_FREE_MS is added up, and may be
 * REDIS_PATIENCE_MS in all. */
enum { REDIS_LIMIT_MS = 300, REDIS_FREE_MS = 20, REDIS_PATIENCE_MS = 1000 };
enum { REDIS_SIGNATURE = 32 };

typedef struct Redis Redis;

typedef enum RedisResult {
    REDIS_DONE,
    REDIS_NONE,   /* get: there is no such key; set: not stored, and no other will be */
    REDIS_BROKEN, /* the connection can no longer be used: see RedisModule.why */
} RedisResult;

/* The functions are in a shared library of their own, so that only a server that needs Redis loads hiredis and OpenSSL. */
typedef struct RedisModule {
    /* Connects and logs in. Always returns a Redis, for free; if it is broken, `why` gives the reason. */
    Redis *(*open)(const RedisAddress *a);
    /* NULL if all is well, otherwise a phrase that is valid until free. It never contains the password. */
    const char *(*why)(const Redis *r);
    /* The value must be freed by mem_free, and is aligned as by malloc. */
    RedisResult (*get)(Redis *r, const char *key, void **value, size_t *size);
    RedisResult (*set)(Redis *r, const char *key, const void *value, size_t size);
    void (*free)(Redis *r);
    /* The signature of a value: HMAC-SHA256 with the key over the value's name and the value, so that it is right under no other name. NULL in
     * a build without OpenSSL. */
    void (*sign)(const char *key, const char *name, const void *value, size_t size, u8 signature[REDIS_SIGNATURE]);
} RedisModule;

#define REDIS_MODULE "lathe-redis.so" /* in the folder of the server's program */
#define REDIS_MODULE_SYMBOL "lathe_redis_module"

/* redis_load.c: returns NULL if the library is not there. */
const RedisModule *redis_load(void);

#endif
