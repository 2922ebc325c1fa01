/* disk.c: see disk.h. */
#include "binopt/llvm/store/disk.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <llvm-c/Core.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "binopt/llvm/store/layout.h"
#include "binopt/process/maps.h"
#include "cache/cpu.h"
#include "cache/pack.h"

enum { FORMAT = 2, MAX_RECORDS = 16, MAX_COUNT = 1 << 20 };

typedef enum RecordState {
    ONCE,   /* made in one run: usable if everything is at the same addresses */
    TWICE,  /* made in two runs, and relocations explain all differences */
    VARIES, /* made in two runs, with differences that are not addresses */
} RecordState;

/* The content of a record: a Head, the anchors, facts and relocations, the bytes of facts, the object. */
typedef struct Head {
    u32 state, anchor_count, fact_count, reloc_count;
    u32 bytes_size, object_size;
} Head;

/* Where an anchor was in the two runs. */
typedef struct SeenAnchor {
    u32 kind, index;
    u64 name, base[2];
} SeenAnchor;

/* The 8 bytes at an offset of the object are the address of a place. */
typedef struct Reloc {
    u32 at, reserved;
    Place to;
} Reloc;

typedef struct DiskEntry {
    RecordState state;
    Layout layout; /* with the addresses of this run, when they were found */
    VEC(SeenAnchor) seen;
    VEC(Reloc) relocs;
    VEC(u8) object;
} DiskEntry;

static void entry_free(DiskEntry *e) {
    layout_free(&e->layout);
    VEC_FREE(&e->seen);
    VEC_FREE(&e->relocs);
    VEC_FREE(&e->object);
}

/* ------------------------------------------------------------------------------------------------------ in and out */

typedef VEC(u8) Bytes;

static void put(Bytes *b, const void *data, size_t size) {
    VEC_RESERVE(b, size);
    if (size)
        memcpy(b->at + b->len, data, size);
    b->len += size;
}

static Bytes serialize(const DiskEntry *e) {
    Bytes b = {0};
    Head h = {e->state,           (u32)e->seen.len,         (u32)e->layout.facts.len,
              (u32)e->relocs.len, (u32)e->layout.bytes.len, (u32)e->object.len};
    put(&b, &h, sizeof(h));
    put(&b, e->seen.at, e->seen.len * sizeof(SeenAnchor));
    put(&b, e->layout.facts.at, e->layout.facts.len * sizeof(Fact));
    put(&b, e->relocs.at, e->relocs.len * sizeof(Reloc));
    put(&b, e->layout.bytes.at, e->layout.bytes.len);
    put(&b, e->object.at, e->object.len);
    return b;
}

#define TAKE(v, data, count)                                                                                           \
    (VEC_RESERVE(v, count), (count) ? memcpy((v)->at, data, (count) * sizeof(*(v)->at)) : NULL, (v)->len = (count),    \
     (data) += (count) * sizeof(*(v)->at))

static bool is_place(const DiskEntry *e, const Place *p) {
    return p->anchor < e->seen.len;
}

/* True if all parts lie within the record. */
static bool is_sound(const DiskEntry *e) {
    for (size_t i = 0; i < e->layout.facts.len; i++) {
        const Fact *f = &e->layout.facts.at[i];
        if (!is_place(e, &f->at) || (f->is_pointer && !is_place(e, &f->to)) || f->bytes_off > e->layout.bytes.len ||
            f->size > e->layout.bytes.len - f->bytes_off)
            return false;
    }
    for (size_t i = 0; i < e->relocs.len; i++)
        if (!is_place(e, &e->relocs.at[i].to) || e->object.len < 8 || e->relocs.at[i].at > e->object.len - 8)
            return false;
    for (size_t i = 0; i < e->seen.len; i++)
        if (e->seen.at[i].kind > ANCHOR_LOADED)
            return false;
    return true;
}

static bool parse(const u8 *data, size_t size, DiskEntry *e) {
    Head h;
    *e = (DiskEntry){0};
    if (size < sizeof(h))
        return false;
    memcpy(&h, data, sizeof(h));
    bool small = h.anchor_count < MAX_COUNT && h.fact_count < MAX_COUNT && h.reloc_count < MAX_COUNT;
    u64 sum = sizeof(h) + (u64)h.anchor_count * sizeof(SeenAnchor) + (u64)h.fact_count * sizeof(Fact) +
              (u64)h.reloc_count * sizeof(Reloc) + h.bytes_size + h.object_size;
    if (!small || sum != size || h.state > VARIES)
        return false;
    data += sizeof(h);
    e->state = (RecordState)h.state;
    TAKE(&e->seen, data, h.anchor_count);
    TAKE(&e->layout.facts, data, h.fact_count);
    TAKE(&e->relocs, data, h.reloc_count);
    TAKE(&e->layout.bytes, data, h.bytes_size);
    TAKE(&e->object, data, h.object_size);
    for (size_t i = 0; i < e->seen.len; i++)
        VEC_PUSH(&e->layout.anchors, ((Anchor){.kind = e->seen.at[i].kind,
                                               .index = e->seen.at[i].index,
                                               .name = e->seen.at[i].name,
                                               .base = e->seen.at[i].base[0]}));
    return is_sound(e);
}

/* --------------------------------------------------------------------------------------------------- moving of code */

static u64 word_at(const u8 *bytes, size_t at) {
    u64 w;
    memcpy(&w, bytes + at, sizeof(w));
    return w;
}

/* The two objects differ at `at`. Returns true if they have the address of the same place there, in two layouts. */
static bool explain(Layout *first, const u8 *a, Layout *second, const u8 *b, size_t size, size_t at, Reloc *r) {
    /* Addresses of the same place agree in their low byte, so a difference is rarely at byte 0. */
    static const u8 order[] = {1, 2, 3, 4, 5, 6, 7, 0};
    for (size_t i = 0; i < sizeof(order); i++) {
        size_t start = at - order[i];
        Place q;
        if (order[i] > at || start + 8 > size)
            continue;
        if (layout_place(second, word_at(b, start), &q) && q.anchor < first->anchors.len &&
            first->anchors.at[q.anchor].base + q.off == word_at(a, start)) {
            *r = (Reloc){.at = (u32)start, .to = q};
            return true;
        }
    }
    return false;
}

/* Finds the relocations that turn the object of a first run into that of this one. */
static bool find_relocs(DiskEntry *first, Layout *now, const u8 *object, size_t size) {
    if (first->object.len != size)
        return false;
    for (size_t at = 0; at < size; at++) {
        Reloc r;
        if (first->object.at[at] == object[at])
            continue;
        if (!explain(&first->layout, first->object.at, now, object, size, at, &r))
            return false;
        VEC_PUSH(&first->relocs, r);
        at = r.at + 7;
    }
    return true;
}

static bool equal_order(u64 a, u64 b, u64 c, u64 d) {
    return (a < b) == (c < d);
}

/* Code may depend on what both runs had in common: an address, a distance, or which of two addresses is lower. This
 * must hold again. */
static bool is_like_before(const DiskEntry *e) {
    for (size_t i = 0; i < e->seen.len; i++) {
        const u64 *s = e->seen.at[i].base;
        u64 now = e->layout.anchors.at[i].base;
        bool same_twice = e->state == ONCE || s[0] == s[1];
        if ((same_twice && now != s[0]) || (now ^ s[0]) % 4096)
            return false;
        for (size_t k = 0; k < i; k++) {
            const u64 *t = e->seen.at[k].base;
            u64 other = e->layout.anchors.at[k].base;
            if (s[0] - t[0] == s[1] - t[1] && now - other != s[0] - t[0])
                return false;
            if (equal_order(s[0], t[0], s[1], t[1]) && !equal_order(now, other, s[0], t[0]))
                return false;
        }
    }
    return true;
}

static void *relocate(const DiskEntry *e) {
    u8 *object = memcpy(mem_new(e->object.len), e->object.at, e->object.len);
    for (size_t i = 0; i < e->relocs.len; i++) {
        u64 addr = e->layout.anchors.at[e->relocs.at[i].to.anchor].base + e->relocs.at[i].to.off;
        memcpy(object + e->relocs.at[i].at, &addr, sizeof(addr));
    }
    return object;
}

/* ---------------------------------------------------------------------------------------------------------------- keys */

typedef struct RecordKey {
    Key pack;    /* the file that the function is in, this library, LLVM and the CPU */
    u64 word[2]; /* function and configuration, without addresses */
} RecordKey;

static u64 hash_number(u64 h, u64 n) {
    return pack_hash(h, &n, sizeof(n));
}

/* The identity of a file as it is now. */
static bool identify(const char *path, PackIdentity *id) {
    struct stat st;
    if (stat(path, &st))
        return false;
    *id = (PackIdentity){.device = st.st_dev,
                         .inode = st.st_ino,
                         .size = (u64)st.st_size,
                         .mtime_s = st.st_mtim.tv_sec,
                         .mtime_ns = st.st_mtim.tv_nsec,
                         .ctime_s = st.st_ctim.tv_sec,
                         .ctime_ns = st.st_ctim.tv_nsec};
    return true;
}

/* A hash of the files that contain this code and LLVM's. */
static u64 hash_makers(void) {
    const void *const inside[] = {(void *)disk_find, (void *)LLVMContextCreate};
    u64 h = hash_number(cpu_kind(), FORMAT), base;
    for (size_t i = 0; i < ARRAY_LEN(inside); i++) {
        PackIdentity id = {0};
        char path[PATH_MAX];
        if (layout_file((u64)inside[i], &base, path, sizeof(path)))
            identify(path, &id);
        h = pack_hash(h, &id, sizeof(id));
    }
    return h;
}

/* An address is represented by its place, another value by itself. */
static u64 hash_value(u64 h, const BinoptCfg *cfg, u64 value) {
    char path[PATH_MAX];
    u64 base;
    u8 byte;
    for (size_t i = 0; i < cfg->regions.len; i++)
        if (value >= cfg->regions.at[i].start && value < cfg->regions.at[i].end)
            return hash_number(hash_number(h, ANCHOR_REGION << 16 | i), value - cfg->regions.at[i].start);
    if (layout_file(value, &base, path, sizeof(path)))
        return hash_number(pack_hash(h, path, strlen(path)), value - base);
    return hash_number(h, value >= 4096 && maps_read(value, &byte, 1) ? value % 4096 : value);
}

static u64 hash_config(u64 h, const BinoptCfg *cfg, u64 function_off) {
    u64 flags = (u64)cfg->fast_math | (u64)cfg->guard << 1 | (u64)cfg->libraries << 2 | (u64)cfg->nowrap << 3;
    u64 numbers[] = {function_off, cfg->stack_bytes, flags, cfg->ret, cfg->params.len, cfg->regions.len};
    h = pack_hash(h, numbers, sizeof(numbers));
    for (size_t i = 0; i < cfg->params.len; i++) {
        h = hash_number(h, (u64)cfg->params.at[i].type | (u64)cfg->params.at[i].fixed << 32);
        if (cfg->params.at[i].fixed)
            h = hash_value(h, cfg, cfg->params.at[i].value);
    }
    for (size_t i = 0; i < cfg->regions.len; i++) {
        const DeclaredRegion *r = &cfg->regions.at[i];
        h = hash_number(hash_number(h, r->flags | (r->start % 4096) << 32), r->end - r->start);
    }
    return h;
}

/* Returns false if the function is in no file. */
static bool make_key(const BinoptCfg *cfg, RecordKey *key) {
    char path[PATH_MAX];
    u64 base;
    PackIdentity id;
    if (!layout_file(cfg->function, &base, path, sizeof(path)) || !identify(path, &id))
        return false;
    u64 makers = hash_makers();
    for (u64 i = 0; i < 2; i++) {
        key->pack.word[i] = pack_hash(hash_number(makers, i), &id, sizeof(id));
        key->word[i] = hash_config(i, cfg, cfg->function - base);
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------------------- packs */

static struct {
    pthread_mutex_t lock;
    PackWriter *writer;
    bool opened;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *directory(void) {
    const char *dir = getenv("BINOPT_CACHE");
    return dir && *dir && strcmp(dir, "none") ? dir : NULL;
}

typedef struct Mapped {
    u8 *data;
    size_t size;
} Mapped;

/* Packs that other users can write to are not used, because the code might be theirs. */
static bool map_pack(const char *dir, Key pack, Mapped *m) {
    char name[PACK_NAME_SIZE], path[PATH_MAX];
    struct stat st;
    pack_name(pack, name);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool ok = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && pack_is_private(st.st_uid, st.st_mode, geteuid()) &&
              st.st_size > 0;
    void *at = ok ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (at == MAP_FAILED)
        return false;
    *m = (Mapped){at, (size_t)st.st_size};
    return true;
}

/* Finds the next entry with this key. Returns false if there is none. */
static bool next_entry(const Mapped *m, size_t *at, const RecordKey *key, DiskEntry *e) {
    for (const PackRecord *r; (r = pack_next(m->data, m->size, at));) {
        if (r->off != key->word[0] || r->guest_hash != key->word[1] || !pack_is_intact(key->pack, r))
            continue;
        if (parse(pack_object(r), r->object_size, e))
            return true;
        entry_free(e);
    }
    return false;
}

static void append_entry(const char *dir, const RecordKey *key, const DiskEntry *e) {
    Bytes b = serialize(e);
    PackFunction f = {.pc = key->word[0] + 1, .base = 1, .end = 2, .position_independent = true, .pack = key->pack};
    pthread_mutex_lock(&disk.lock);
    if (!disk.opened)
        disk.writer = pack_writer_open(dir);
    disk.opened = true;
    if (b.len < PACK_OBJECT_MAX)
        pack_append(disk.writer, &f, NULL, 0, key->word[1], b.at, (u32)b.len, 0);
    pthread_mutex_unlock(&disk.lock);
    VEC_FREE(&b);
}

/* -------------------------------------------------------------------------------------------------------------- public */

static void list_depends(const Layout *l, Depends *depends) {
    for (size_t i = 0; i < l->facts.len; i++) {
        const Fact *f = &l->facts.at[i];
        u64 pointer = f->is_pointer ? l->anchors.at[f->to.anchor].base + f->to.off : 0;
        const void *bytes = f->is_pointer ? (void *)&pointer : l->bytes.at + f->bytes_off;
        u64 addr = l->anchors.at[f->at.anchor].base + f->at.off;
        (f->read_only ? depends_add_read_only : depends_add)(depends, addr, bytes, f->size);
    }
}

void *disk_find(const BinoptCfg *cfg, size_t *size, Depends *depends) {
    const char *dir = directory();
    RecordKey key;
    Mapped m;
    if (!dir || !make_key(cfg, &key) || !map_pack(dir, key.pack, &m))
        return NULL;
    void *object = NULL;
    DiskEntry e;
    for (size_t at = 0; !object && next_entry(&m, &at, &key, &e); entry_free(&e)) {
        if (e.state == VARIES || !layout_find(&e.layout, cfg) || !is_like_before(&e))
            continue;
        object = relocate(&e);
        *size = e.object.len;
        list_depends(&e.layout, depends);
    }
    munmap(m.data, m.size);
    return object;
}

/* The entries for the same function and configuration that exist already. */
typedef struct Earlier {
    size_t count; /* number of entries with the key */
    bool settled; /* the objects of two runs have been compared */
    bool once;    /* one run has left its object, which is `first` */
    DiskEntry first;
} Earlier;

static Earlier find_earlier(const Mapped *m, const RecordKey *key, const Layout *now) {
    Earlier found = {0};
    DiskEntry e;
    for (size_t at = 0; next_entry(m, &at, key, &e); found.count++) {
        bool same = layout_same(&e.layout, now), once = same && e.state == ONCE && !found.once;
        found.settled |= same && e.state != ONCE;
        found.once |= once;
        if (once)
            found.first = e;
        else
            entry_free(&e);
    }
    return found;
}

/* Combines the first run's entry and this run's object into an entry whose code can be moved, if that is possible. */
static void merge(DiskEntry *first, Layout *now, const void *object, size_t size) {
    first->state = find_relocs(first, now, object, size) ? TWICE : VARIES;
    for (size_t i = 0; i < first->seen.len; i++)
        first->seen.at[i].base[1] = now->anchors.at[i].base;
}

static DiskEntry first_entry(const Layout *now, const void *object, size_t size) {
    DiskEntry e = {.state = ONCE};
    for (size_t i = 0; i < now->anchors.len; i++) {
        const Anchor *a = &now->anchors.at[i];
        VEC_PUSH(&e.seen, ((SeenAnchor){a->kind, a->index, a->name, {a->base, a->base}}));
    }
    put((Bytes *)&e.object, object, size);
    return e;
}

static void keep(const char *dir, const RecordKey *key, Layout *now, const void *object, size_t size) {
    Mapped m = {0};
    bool mapped = map_pack(dir, key->pack, &m);
    Earlier earlier = mapped ? find_earlier(&m, key, now) : (Earlier){0};
    if (mapped)
        munmap(m.data, m.size);
    if (earlier.once && !earlier.settled) {
        merge(&earlier.first, now, object, size);
        append_entry(dir, key, &earlier.first);
    } else if (!earlier.once && !earlier.settled && earlier.count < MAX_RECORDS) {
        DiskEntry e = first_entry(now, object, size);
        e.layout = *now;
        append_entry(dir, key, &e);
        e.layout = (Layout){0};
        entry_free(&e);
    }
    entry_free(&earlier.first);
}

void disk_keep(const BinoptCfg *cfg, const Depends *depends, const void *object, size_t size) {
    const char *dir = directory();
    RecordKey key;
    Layout now = {0};
    if (dir && make_key(cfg, &key) && layout_make(&now, cfg, depends, object, size))
        keep(dir, &key, &now, object, size);
    layout_free(&now);
}
