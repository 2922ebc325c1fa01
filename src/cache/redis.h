/* redis.h: a Redis server as a store of values by key; nothing here waits longer than a moment. */
#ifndef CACHE_REDIS_H
#define CACHE_REDIS_H

#include "cache/address.h"

/* How long reaching the server may take, the login, and each command. A server that answers, but slowly each time, would hold
 * up a run without end: what commands take beyond REDIS_FREE_MS is counted, and may be REDIS_PATIENCE_MS in all. */
enum { REDIS_LIMIT_MS = 300, REDIS_FREE_MS = 20, REDIS_PATIENCE_MS = 1000 };

typedef struct Redis Redis;

typedef enum RedisResult {
    REDIS_DONE,
    REDIS_NONE,   /* get: there is no such key; set: not taken, nor will be another one */
    REDIS_BROKEN, /* the connection is no use any more: see redis_why */
} RedisResult;

/* The functions. They are in a module of their own, so that only a server that needs Redis loads hiredis and OpenSSL. */
typedef struct RedisModule {
    /* Connects and logs in. Always a Redis, for free; if it is broken, `why` says so. */
    Redis *(*open)(const RedisAddress *a);
    /* NULL: all is well. Otherwise a phrase, until free. It never has the password in it. */
    const char *(*why)(const Redis *r);
    /* The value is for mem_free, and aligned as malloc does. */
    RedisResult (*get)(Redis *r, const char *key, void **value, size_t *size);
    RedisResult (*set)(Redis *r, const char *key, const void *value, size_t size);
    void (*free)(Redis *r);
} RedisModule;

#define REDIS_MODULE "lathe-redis.so" /* beside the server's program */
#define REDIS_MODULE_SYMBOL "lathe_redis_module"

/* redis_load.c: NULL: it is not there. */
const RedisModule *redis_load(void);

#endif
