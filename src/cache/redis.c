/* redis.c: the module of redis.h. hiredis writes commands and reads replies; the bytes go through a Channel, because hiredis has time
 * limits for single reads only, and its version in Debian 12 has no TLS. */
#include "cache/redis.h"

#include <hiredis/hiredis.h>
#include <stdio.h>

#include "cache/channel.h"
#ifdef LATHE_TLS
#include <openssl/evp.h>
#endif

enum { READ_BYTES = 64 << 10 };

struct Redis {
    Channel channel;
    redisReader *reader;
    u64 waited_us; /* what all commands have taken beyond REDIS_FREE_MS each */
    bool broken;
    char why[128];
};

static void give_up(Redis *r, const char *why) {
    snprintf(r->why, sizeof(r->why), "%s", why);
    r->broken = true;
}

static bool send_command(Redis *r, int argc, const char **argv, const size_t *sizes) {
    char *text = NULL;
    long long size = redisFormatCommandArgv(&text, argc, argv, sizes);
    CHECK(size > 0, "out of memory");
    bool ok = channel_write(&r->channel, text, (size_t)size);
    redisFreeCommand(text);
    return ok;
}

/* Returns NULL if the connection is broken. */
static redisReply *receive_reply(Redis *r) {
    static _Thread_local char bytes[READ_BYTES];
    void *reply = NULL;
    while (redisReaderGetReply(r->reader, &reply) == REDIS_OK && !reply) {
        size_t n = channel_read(&r->channel, bytes, sizeof(bytes));
        if (!n) {
            give_up(r, r->channel.why);
            return NULL;
        }
        redisReaderFeed(r->reader, bytes, n);
    }
    if (!reply)
        give_up(r, "what it says is not Redis's protocol");
    return reply;
}

/* Returns NULL if the connection is broken. The reply may be an error. */
static redisReply *command(Redis *r, int argc, const char **argv, const size_t *sizes) {
    u64 start = channel_now_us();
    channel_allow(&r->channel, REDIS_LIMIT_MS);
    if (!send_command(r, argc, argv, sizes)) {
        give_up(r, r->channel.why);
        return NULL;
    }
    redisReply *reply = receive_reply(r);
    u64 took = channel_now_us() - start;
    r->waited_us += took > REDIS_FREE_MS * 1000 ? took - REDIS_FREE_MS * 1000 : 0;
    return reply;
}

/* ---------------------------------------------------------------------------------------------------------------- login */

/* An error of the server may quote the command. The last word of a login is secret, so it is not shown. */
static void login_step(Redis *r, int argc, const char **argv) {
    redisReply *reply = r->broken ? NULL : command(r, argc, argv, NULL);
    if (reply && reply->type == REDIS_REPLY_ERROR)
        give_up(r, strstr(reply->str, argv[argc - 1]) ? "it refuses the login" : reply->str);
    if (reply)
        freeReplyObject(reply);
}

static void login(Redis *r, const RedisAddress *a) {
    char db[16];
    snprintf(db, sizeof(db), "%u", a->db);
    const char *as_user[] = {"AUTH", a->user, a->password}, *auth[] = {"AUTH", a->password}, *select[] = {"SELECT", db};
    if (*a->user)
        login_step(r, ARRAY_LEN(as_user), as_user);
    else if (*a->password)
        login_step(r, ARRAY_LEN(auth), auth);
    if (a->db)
        login_step(r, ARRAY_LEN(select), select);
}

static Redis *open_redis(const RedisAddress *a) {
    Redis *r = mem_new(sizeof(Redis));
    r->reader = redisReaderCreate();
    CHECK(r->reader, "out of memory");
    if (channel_open(&r->channel, a, REDIS_LIMIT_MS))
        login(r, a);
    else
        give_up(r, r->channel.why);
    return r;
}

static const char *why_broken(const Redis *r) {
    return r->broken ? r->why : NULL;
}

/* ------------------------------------------------------------------------------------------------------------- commands */

/* The answer to this command is used, but if commands have taken too long in all, there will be no further one. */
static void lose_patience(Redis *r) {
    if (!r->broken && r->waited_us > REDIS_PATIENCE_MS * 1000)
        give_up(r, "it is too slow");
}

static void *copy_of(const void *data, size_t size) {
    void *copy = mem_new(size + 1);
    memcpy(copy, data, size);
    return copy;
}

static RedisResult get(Redis *r, const char *key, void **value, size_t *size) {
    const char *argv[] = {"GET", key};
    RedisResult result = REDIS_NONE;
    redisReply *reply = r->broken ? NULL : command(r, ARRAY_LEN(argv), argv, NULL);
    if (!reply)
        return REDIS_BROKEN;
    if (reply->type == REDIS_REPLY_STRING) {
        *size = reply->len;
        *value = copy_of(reply->str, *size);
        result = REDIS_DONE;
    } else if (reply->type == REDIS_REPLY_ERROR) {
        give_up(r, reply->str);
        result = REDIS_BROKEN;
    }
    freeReplyObject(reply);
    lose_patience(r);
    return result;
}

static RedisResult set(Redis *r, const char *key, const void *value, size_t size) {
    const char *argv[] = {"SET", key, value};
    const size_t sizes[] = {3, strlen(key), size};
    redisReply *reply = r->broken ? NULL : command(r, ARRAY_LEN(argv), argv, sizes);
    if (!reply)
        return REDIS_BROKEN;
    RedisResult result = reply->type == REDIS_REPLY_ERROR ? REDIS_NONE : REDIS_DONE;
    freeReplyObject(reply);
    lose_patience(r);
    return result;
}

static void free_redis(Redis *r) {
    channel_close(&r->channel);
    redisReaderFree(r->reader);
    mem_free(r);
}

/* ----------------------------------------------------------------------------------------------------------- signatures */

#ifdef LATHE_TLS
static void sign(const char *key, const char *name, const void *value, size_t size, u8 signature[REDIS_SIGNATURE]) {
    OSSL_PARAM digest[] = {OSSL_PARAM_construct_utf8_string("digest", (char *)"SHA256", 0), OSSL_PARAM_construct_end()};
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *c = hmac ? EVP_MAC_CTX_new(hmac) : NULL;
    size_t made = 0;
    bool ok = c && EVP_MAC_init(c, (const u8 *)key, strlen(key), digest) &&
              EVP_MAC_update(c, (const u8 *)name, strlen(name) + 1) && EVP_MAC_update(c, value, size) &&
              EVP_MAC_final(c, signature, &made, REDIS_SIGNATURE);
    CHECK(ok && made == REDIS_SIGNATURE, "OpenSSL has no HMAC-SHA256");
    EVP_MAC_CTX_free(c);
    EVP_MAC_free(hmac);
}
#define SIGN sign
#else
#define SIGN NULL
#endif

__attribute__((visibility("default")))
const RedisModule lathe_redis_module = {open_redis, why_broken, get, set, free_redis, SIGN};
