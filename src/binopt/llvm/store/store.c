/* store.c: see store.h. */
#include "binopt/llvm/store/store.h"

#include <pthread.h>
#include <stdio.h>

#include "binopt/process/fork.h"

/* When the store is full, all of it is forgotten: an application with so many specialisations does not ask for the same
 * ones again. */
enum { MAX_ENTRIES = 1024 };

typedef VEC(u8) Bytes;

typedef struct StoreEntry {
    u64 id, key_hash;
    Bytes key, object;
    Depends depends;
    char name[32];
} StoreEntry;

static struct {
    pthread_mutex_t lock;
    VEC(StoreEntry) entries;
    u64 last_id;
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void append(Bytes *b, const void *data, size_t size) {
    VEC_RESERVE(b, size);
    if (size)
        memcpy(b->at + b->len, data, size);
    b->len += size;
}

/* ---------------------------------------------------------------------------------------------------------------- keys */

static void append_number(Bytes *b, u64 n) {
    append(b, &n, sizeof(n));
}

static Bytes key_of(const BinoptCfg *cfg) {
    Bytes key = {0};
    append_number(&key, cfg->function);
    append_number(&key, cfg->stack_bytes);
    append_number(&key, (u64)cfg->fast_math | (u64)cfg->guard << 1 | (u64)cfg->libraries << 2 | (u64)cfg->nowrap << 3);
    append_number(&key, cfg->ret);
    append_number(&key, cfg->params.len);
    for (size_t i = 0; i < cfg->params.len; i++) {
        append_number(&key, (u64)cfg->params.at[i].type | (u64)cfg->params.at[i].fixed << 32);
        append_number(&key, cfg->params.at[i].value);
    }
    for (size_t i = 0; i < cfg->regions.len; i++) {
        append_number(&key, cfg->regions.at[i].start);
        append_number(&key, cfg->regions.at[i].end);
        append_number(&key, cfg->regions.at[i].flags);
    }
    return key;
}

/* FNV-1a, which distinguishes most keys quickly. */
static u64 hash_of(const Bytes *b) {
    u64 h = 0xcbf29ce484222325;
    for (size_t i = 0; i < b->len; i++)
        h = (h ^ b->at[i]) * 0x100000001b3;
    return h;
}

/* -------------------------------------------------------------------------------------------------------------- public */

static const StoreEntry *find(const Bytes *key) {
    u64 hash = hash_of(key);
    for (size_t i = store.entries.len; i-- > 0;) {
        const StoreEntry *e = &store.entries.at[i];
        if (e->key_hash == hash && e->key.len == key->len && !memcmp(e->key.at, key->at, key->len) &&
            depends_hold(&e->depends))
            return e;
    }
    return NULL;
}

bool store_find(const BinoptCfg *cfg, Stored *found) {
    Bytes key = key_of(cfg);
    fork_protect(&store.lock);
    pthread_mutex_lock(&store.lock);
    const StoreEntry *e = find(&key);
    if (e) {
        *found = (Stored){.id = e->id, .object = mem_new(e->object.len), .size = e->object.len};
        memcpy(found->object, e->object.at, e->object.len);
        memcpy(found->name, e->name, sizeof(found->name));
    }
    pthread_mutex_unlock(&store.lock);
    VEC_FREE(&key);
    return e != NULL;
}

static void entry_free(StoreEntry *e) {
    VEC_FREE(&e->key);
    VEC_FREE(&e->object);
    depends_free(&e->depends);
}

static void forget_all(void) {
    for (size_t i = 0; i < store.entries.len; i++)
        entry_free(&store.entries.at[i]);
    store.entries.len = 0;
}

u64 store_add(const BinoptCfg *cfg, const Depends *depends, const char *name, const void *object, size_t size) {
    StoreEntry e = {.key = key_of(cfg)};
    e.key_hash = hash_of(&e.key);
    append(&e.object, object, size);
    for (size_t i = 0; i < depends->list.len; i++)
        depends_copy(&e.depends, depends, &depends->list.at[i]);
    snprintf(e.name, sizeof(e.name), "%s", name);
    pthread_mutex_lock(&store.lock);
    const StoreEntry *before = find(&e.key); /* another thread may have added it meanwhile */
    u64 id = before ? before->id : (e.id = ++store.last_id);
    if (!before && store.entries.len >= MAX_ENTRIES)
        forget_all();
    if (before)
        entry_free(&e);
    else
        VEC_PUSH(&store.entries, e);
    pthread_mutex_unlock(&store.lock);
    return id;
}
