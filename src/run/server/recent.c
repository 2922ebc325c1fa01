/* recent.c: finds objects that other servers have put into the client's packs since the client looked there, or will put there soon.
 *
 * Programs that are started together ask for the same functions at about the same time. A server that begins to translate a function locks a
 * byte that stands for it, in a file beside the packs. A server that finds the byte locked waits a while and looks into the pack again. A
 * lock ends with its process, and a wait has a limit, so no server depends on the health of another. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/pack.h"
#include "run/server/server.h"

#define CLAIMS "claims"

enum { WAIT_MAX_US = 2000000, WAIT_STEP_US = 2000 };

typedef struct Pack {
    Key key;
    int fd;
    const u8 *data; /* the mapped file; NULL: not mapped yet */
    size_t size;    /* its size, all of which is indexed */
    Map64 places;   /* from a function's offset to the place of its last record / PACK_ALIGN */
} Pack;

struct Recent {
    int dir, claims; /* -1: it cannot be opened */
    u64 claimed;     /* the locked byte of `claims`; 0: none */
    Pages *pages;
    VEC(Pack) packs;
    VEC(LatheRange) ranges; /* of the object found last */
};

Recent *recent_new(const char *cache_dir, Pages *pages) {
    Recent *r = mem_new(sizeof(Recent));
    r->pages = pages;
    r->dir = open(cache_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    r->claims = openat(r->dir, CLAIMS, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    return r;
}

/* --------------------------------------------------------------------------------------------------------------- packs */

/* Code that another user could have written is not used. */
static bool is_ours(const struct stat *st) {
    return S_ISREG(st->st_mode) && pack_is_private(st->st_uid, st->st_mode, geteuid());
}

static void close_pack(Pack *p) {
    if (p->data)
        munmap((void *)p->data, p->size);
    if (p->fd >= 0)
        close(p->fd);
    map64_free(&p->places);
    *p = (Pack){.key = p->key, .fd = -1};
}

static Pack *pack_of(Recent *r, Key key) {
    for (size_t i = 0; i < r->packs.len; i++)
        if (!memcmp(&r->packs.at[i].key, &key, sizeof(key)))
            return &r->packs.at[i];
    VEC_PUSH(&r->packs, ((Pack){.key = key, .fd = -1}));
    return &r->packs.at[r->packs.len - 1];
}

static bool open_pack(Recent *r, Pack *p, struct stat *st) {
    char name[PACK_NAME_SIZE];
    if (p->fd >= 0 && (fstat(p->fd, st) || !st->st_nlink)) /* the pack was removed because the cache was too large */
        close_pack(p);
    if (p->fd >= 0)
        return true;
    pack_name(p->key, name);
    p->fd = openat(r->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (p->fd >= 0 && fstat(p->fd, st) == 0 && is_ours(st))
        return true;
    close_pack(p);
    return false;
}

/* Packs only grow. A record that was incomplete when it was indexed is never found, like a damaged one. */
static void look_again(Recent *r, Pack *p) {
    struct stat st;
    if (!open_pack(r, p, &st) || (size_t)st.st_size <= p->size)
        return;
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, p->fd, 0);
    if (data == MAP_FAILED)
        return;
    size_t at = p->size / PACK_ALIGN * PACK_ALIGN;
    if (p->data)
        munmap((void *)p->data, p->size);
    p->data = data;
    p->size = (size_t)st.st_size;
    for (const PackRecord *record; (record = pack_next(p->data, p->size, &at));)
        map64_set(&p->places, record->off, (u32)(((const u8 *)record - p->data) / PACK_ALIGN));
}

/* ------------------------------------------------------------------------------------------------------------- records */

static bool guest_fits(Recent *r, const TranslateMessage *request, const PackRecord *record) {
    u64 hash = PACK_HASH_START, size = request->end - request->base;
    r->ranges.len = 0;
    for (u32 i = 0; i < record->range_count; i++) {
        PackRange range = pack_ranges(record)[i];
        if (range.start > range.end || range.end > size)
            return false;
        LatheRange at = {request->base + range.start, request->base + range.end};
        if (!pack_hash_guest(&hash, at.start, at.end, pages_read, r->pages))
            return false;
        VEC_PUSH(&r->ranges, at);
    }
    return hash == record->guest_hash;
}

static bool take(Recent *r, const TranslateMessage *request, const PackRecord *record, Translation *out) {
    if (!pack_is_intact(request->pack, record) || (record->base && record->base != request->base) ||
        !guest_fits(r, request, record))
        return false;
    *out = (Translation){
        .facts = {.pc = request->pc, .object_size = record->object_size, .insns = record->insns},
        .object = record->object_size ? malloc(record->object_size) : NULL,
        .ranges = r->ranges.at,
        .range_count = r->ranges.len,
    };
    CHECK(out->object || !record->object_size, "out of memory");
    if (out->object)
        memcpy(out->object, pack_object(record), record->object_size);
    return true;
}

static bool find(Recent *r, const TranslateMessage *request, Translation *out) {
    Pack *p = pack_of(r, request->pack);
    u32 place;
    look_again(r, p);
    return p->data && map64_get(&p->places, request->pc - request->base, &place) &&
           take(r, request, (const PackRecord *)(p->data + (u64)place * PACK_ALIGN), out);
}

/* -------------------------------------------------------------------------------------------------------------- claims */

static bool set_lock(Recent *r, u64 byte, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
    return fcntl(r->claims, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

void recent_release(Recent *r) {
    if (r && r->claimed)
        set_lock(r, r->claimed, F_UNLCK);
    if (r)
        r->claimed = 0;
}

/* Tries to lock the function's byte. If locks cannot be used, there is nothing to wait for, and the answer is true. */
static bool claim(Recent *r, const TranslateMessage *request) {
    u64 off = request->pc - request->base, of_pack = pack_hash(PACK_HASH_START, &request->pack, sizeof(Key));
    u64 byte = pack_hash(of_pack, &off, sizeof(off)) >> 2 | 1; /* fits an off_t and is not 0 */
    if (r->claims >= 0 && !set_lock(r, byte, F_WRLCK))
        return false;
    r->claimed = r->claims >= 0 ? byte : 0;
    return true;
}

bool recent_find(Recent *r, const TranslateMessage *request, Translation *out) {
    if (!r || !request->base || !(request->pack.word[0] || request->pack.word[1]))
        return false;
    pages_begin(r->pages, request);
    for (u32 waited = 0; waited < WAIT_MAX_US; waited += WAIT_STEP_US) {
        bool mine = claim(r, request);
        if (find(r, request, out)) {
            recent_release(r);
            return true;
        }
        if (mine)
            return false;
        usleep(WAIT_STEP_US);
    }
    return false;
}

void recent_free(Recent *r) {
    if (!r)
        return;
    for (size_t i = 0; i < r->packs.len; i++)
        close_pack(&r->packs.at[i]);
    VEC_FREE(&r->packs);
    VEC_FREE(&r->ranges);
    if (r->claims >= 0)
        close(r->claims);
    if (r->dir >= 0)
        close(r->dir);
    mem_free(r);
}
