/* shared.c: objects in Redis. A value is a record in the format of packs (cache/pack.h), and nothing in it is trusted. If the client has a key,
 * a value ends with a signature, and is used only if that is right; teams with different keys have different names of values.
 *
 * Which guest bytes a function is made from is known only after lifting, but the key is needed before. So the key names the pages around it:
 * the module's first page, which has its build id and its layout, and the page in which the function begins. The record then names the
 * exact ranges, and their hash has to equal that of the guest's bytes. */
#include "run/server/shared.h"

#include <stdio.h>
#include <stdlib.h>

#include "cache/cpu.h"
#include "cache/outage.h"
#include "cache/pack.h"
#include "cache/redis.h"

enum { PAGE = 4096, SHARED_VERSION = 3, KEY_SIZE = 64, SIGNED_MAX = 1 << 20 };

struct Shared {
    RedisAddress address;
    char name[ADDRESS_SIZE]; /* the address, for messages */
    char cache_dir[sizeof(((InitMessage *)0)->cache_dir)];
    Outage outage;
    char key[sizeof(((SharedMessage *)0)->key)]; /* empty: values are not signed */
    u64 team;                                    /* tells the keys of teams apart; 0: there is none */
    CodeConfig config;                           /* without the parts that depend on this machine */
    bool portable;
    u64 build;
    Connection *connection;
    Pages *pages;
    const RedisModule *module;
    Redis *redis;        /* NULL: not connected yet */
    bool off, read_only; /* off: not used any more in this process */
    VEC(LatheRange) ranges;
};

/* --------------------------------------------------------------------------------------------------------- the connection */

static void turn_off(Shared *s, const char *why) {
    char text[512];
    s->off = true;
    if (!outage_note(s->cache_dir, &s->outage))
        return;
    int len = snprintf(text, sizeof(text), "the shared cache %s is not used in this run: %s", s->name, why);
    size_t size = len < (int)sizeof(text) ? (size_t)len : sizeof(text) - 1;
    connection_send(s->connection, S_WARNING, text, size, NULL, 0);
}

static void look_for_trouble(Shared *s) {
    const char *why = s->module->why(s->redis);
    if (why)
        turn_off(s, why);
}

/* Names of values can be seen by others, so only a signature of the key is in them. */
static void name_team(Shared *s) {
    u8 signature[REDIS_SIGNATURE];
    if (!*s->key)
        return;
    s->module->sign(s->key, "team", NULL, 0, signature);
    memcpy(&s->team, signature, sizeof(s->team));
}

static bool is_usable(Shared *s) {
    if (s->off || s->redis)
        return !s->off;
    if (outage_is_known(s->cache_dir, &s->outage)) {
        s->off = true;
        return false;
    }
    s->module = redis_load();
    if (!s->module)
        turn_off(s, REDIS_MODULE " is missing beside lathe-server, or what it needs");
    else if (!build_identity(s->portable, &s->build))
        turn_off(s, "lathe-server was linked without a build id");
    else if (*s->key && !s->module->sign)
        turn_off(s, "this build of lathe-server has no OpenSSL to check signatures by");
    if (s->off)
        return false;
    name_team(s);
    s->redis = s->module->open(&s->address);
    look_for_trouble(s);
    return !s->off;
}

Shared *shared_new(const SharedMessage *message, const InitMessage *init, Connection *c, Pages *pages) {
    Shared *s = mem_new(sizeof(Shared));
    if (!memchr(message->url, 0, sizeof(message->url)) || !memchr(message->password, 0, sizeof(message->password)) ||
        !memchr(message->key, 0, sizeof(message->key)) || address_parse(message->url, &s->address) ||
        !address_format(&s->address, s->name, sizeof(s->name))) {
        mem_free(s);
        return NULL;
    }
    snprintf(s->address.password, sizeof(s->address.password), "%s", message->password);
    memcpy(s->key, message->key, sizeof(s->key));
    memcpy(s->cache_dir, init->cache_dir, sizeof(s->cache_dir));
    s->outage = (Outage){.cache = pack_hash(PACK_HASH_START, s->name, strlen(s->name)), .run = message->run};
    s->config = init->code;
    memset(s->config.reserved, 0, sizeof(s->config.reserved));
    s->portable = init->cpu && init->cpu != cpu_kind();
    s->connection = c;
    s->pages = pages;
    return s;
}

void shared_free(Shared *s) {
    if (!s)
        return;
    if (s->redis)
        s->module->free(s->redis);
    VEC_FREE(&s->ranges);
    mem_free(s);
}

/* ------------------------------------------------------------------------------------------------------------------ keys */

/* Everything that determines the object, as far as it is known before lifting. */
typedef struct Subject {
    CodeConfig config;
    u64 build, team;
    u64 off, size, base; /* base: the only base for which the object is right, or 0 */
    u64 position_independent, changing_data;
    u64 first_page, code_page; /* hashes */
} Subject;

/* Returns 0 if the page cannot be read or may change. */
static u64 hash_page(Shared *s, const TranslateMessage *request, u64 page) {
    u64 hash = PACK_HASH_START, start = page < request->base ? request->base : page;
    u64 end = page + PAGE < request->end ? page + PAGE : request->end;
    return pack_hash_guest(&hash, start, end, pages_read, s->pages) ? hash : 0;
}

static Key key_of(Shared *s, const TranslateMessage *request) {
    Key key;
    Subject subject = {
        .config = s->config,
        .build = s->build,
        .team = s->team,
        .off = request->pc - request->base,
        .size = request->end - request->base,
        .base = request->position_independent ? 0 : request->base,
        .position_independent = request->position_independent,
        .changing_data = request->changing_data,
        .first_page = hash_page(s, request, request->base & ~(u64)(PAGE - 1)),
        .code_page = hash_page(s, request, request->pc & ~(u64)(PAGE - 1)),
    };
    for (u64 i = 0; i < ARRAY_LEN(key.word); i++)
        key.word[i] = pack_hash(SHARED_VERSION + (i << 32), &subject, sizeof(subject));
    return key;
}

static void print_key(Key key, char text[KEY_SIZE]) {
    snprintf(text, KEY_SIZE, "lathe:%016llx%016llx", (unsigned long long)key.word[0], (unsigned long long)key.word[1]);
}

/* ------------------------------------------------------------------------------------------------------------ signatures */

/* What is signed: the record, and the guest's bytes that it was made from. Their hash in the record is not made against forgery. */
typedef VEC(u8) Signed;

static bool add_range(Shared *s, LatheRange range, Signed *text) {
    size_t size = range.end - range.start;
    if (size > SIGNED_MAX - text->len)
        return false;
    VEC_RESERVE(text, size);
    if (pages_read(s->pages, range.start, text->at + text->len, size) != size)
        return false;
    text->len += size;
    return true;
}

/* Returns false if the guest's bytes cannot be read. */
static bool sign(Shared *s, const char *name, const PackRecord *r, const LatheRange *ranges, size_t count,
                 u8 signature[REDIS_SIGNATURE]) {
    Signed text = {0};
    bool ok = r->size <= SIGNED_MAX;
    if (ok) {
        VEC_RESERVE(&text, r->size);
        memcpy(text.at, r, r->size);
        text.len = r->size;
    }
    for (size_t i = 0; i < count && ok; i++)
        ok = add_range(s, ranges[i], &text);
    if (ok)
        s->module->sign(s->key, name, text.at, text.len, signature);
    VEC_FREE(&text);
    return ok;
}

/* True if what comes behind the record is its signature, or if there is no key. The comparison takes the same time for all wrong ones. */
static bool is_signed(Shared *s, const char *name, const PackRecord *r) {
    u8 right[REDIS_SIGNATURE], difference = 0;
    if (!*s->key)
        return true;
    if (!sign(s, name, r, s->ranges.at, s->ranges.len, right))
        return false;
    for (size_t i = 0; i < sizeof(right); i++)
        difference |= right[i] ^ ((const u8 *)r)[r->size + i];
    return !difference;
}

static size_t signature_size(const Shared *s) {
    return *s->key ? REDIS_SIGNATURE : 0;
}

static RedisResult set_signed(Shared *s, const char *name, const PackRecord *r, const LatheRange *ranges,
                              size_t count) {
    size_t size = r->size + signature_size(s);
    u8 *value = mem_new(size);
    memcpy(value, r, r->size);
    bool ok = !*s->key || sign(s, name, r, ranges, count, value + r->size);
    RedisResult result = ok ? s->module->set(s->redis, name, value, size) : REDIS_DONE;
    mem_free(value);
    return result;
}

/* --------------------------------------------------------------------------------------------------------------- records */

static bool guest_fits(Shared *s, const TranslateMessage *request, const PackRecord *r) {
    u64 hash = PACK_HASH_START, size = request->end - request->base;
    s->ranges.len = 0;
    for (u32 i = 0; i < r->range_count; i++) {
        PackRange range = pack_ranges(r)[i];
        if (range.start > range.end || range.end > size)
            return false;
        LatheRange at = {request->base + range.start, request->base + range.end};
        if (!pack_hash_guest(&hash, at.start, at.end, pages_read, s->pages))
            return false;
        VEC_PUSH(&s->ranges, at);
    }
    return hash == r->guest_hash;
}

/* Returns the record that a value has in front of its signature, or NULL if it is damaged, or was made from something else, or by somebody without the key. */
static const PackRecord *check(Shared *s, const TranslateMessage *request, Key key, const void *value, size_t size) {
    char name[KEY_SIZE];
    size_t at = 0;
    if (size < signature_size(s))
        return NULL;
    size -= signature_size(s);
    print_key(key, name);
    const PackRecord *r = pack_next(value, size, &at);
    bool right = r == value && at == size && pack_is_intact(key, r) && r->off == request->pc - request->base &&
                 (!r->base || r->base == request->base) && guest_fits(s, request, r) && is_signed(s, name, r);
    return right ? r : NULL;
}

static void take(Shared *s, const TranslateMessage *request, const PackRecord *r, Translation *out) {
    *out = (Translation){
        .facts = {.pc = request->pc, .object_size = r->object_size, .insns = r->insns, .shared = 1},
        .object = malloc(r->object_size),
        .ranges = s->ranges.at,
        .range_count = s->ranges.len,
    };
    CHECK(out->object, "out of memory");
    memcpy(out->object, pack_object(r), r->object_size);
}

bool shared_find(Shared *s, const TranslateMessage *request, Translation *out) {
    char name[KEY_SIZE];
    void *value = NULL;
    size_t size = 0;
    if (!s || !request->base || !is_usable(s))
        return false;
    pages_begin(s->pages, request);
    Key key = key_of(s, request);
    print_key(key, name);
    RedisResult result = s->module->get(s->redis, name, &value, &size);
    const PackRecord *r = result == REDIS_DONE ? check(s, request, key, value, size) : NULL;
    if (r)
        take(s, request, r, out);
    mem_free(value);
    look_for_trouble(s);
    return r;
}

void shared_keep(Shared *s, const TranslateMessage *request, const Translation *t, u64 guest_hash) {
    char name[KEY_SIZE];
    if (!s || s->off || s->read_only || !s->redis || !request->base || t->facts.shared)
        return;
    Key key = key_of(s, request);
    PackFunction f = translate_function(request);
    PackRecord *r = pack_record_new(key, &f, t->ranges, t->range_count, guest_hash, t->object, t->facts.object_size,
                                    t->facts.insns);
    if (!r)
        return;
    print_key(key, name);
    s->read_only = set_signed(s, name, r, t->ranges, t->range_count) == REDIS_NONE;
    mem_free(r);
    look_for_trouble(s);
}
