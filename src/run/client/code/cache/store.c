/* store.c: reading the persistent cache.
 *
 * When code of a module is first wanted, its pack is mapped, and a table of its records by their offset in the module is built. Records that
 * other processes append later are not seen. A record is checked each time before it is used; see
 * cache/pack.h.
 */
#include "run/client/code/cache/store.h"
#include "cache/pack.h"
#include "run/client/core/client.h"
#include "run/client/memory/contained.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"
#include "run/client/tool/tool.h"

/* Bits of st_mode, which the kernel's header leaves to the C library. */
enum { MODE_TYPE = 0170000, MODE_REGULAR = 0100000 };

typedef struct Store {
    const u8 *data; /* the file, mapped */
    u64 size;
    bool contained; /* the pack is in the client's own file (memory/contained.h), so it is not unmapped */
    u64 bytes;      /* size of this Store with its slots */
    u64 mask;       /* number of slots - 1 */
    u32 slots[];    /* place of a record in the file / PACK_ALIGN, + 1; 0: the slot is free */
} Store;

/* The store of a module that has no pack, or one that cannot be used. */
static const Store nothing;

static const PackRecord *record_at(const Store *s, u32 slot) {
    return (const PackRecord *)(s->data + (u64)(slot - 1) * PACK_ALIGN);
}

/* The slot of an offset, or the free slot where it belongs. */
static u64 slot_of(const Store *s, u64 off) {
    u64 i = off * 0x9e3779b97f4a7c15u >> 32;
    while (s->slots[i & s->mask] && record_at(s, s->slots[i & s->mask])->off != off)
        i++;
    return i & s->mask;
}

static u64 count_records(const u8 *data, u64 size) {
    u64 count = 0;
    for (size_t at = 0; pack_next(data, size, &at);)
        count++;
    return count;
}

/* A later record replaces an earlier one of the same offset. */
static void fill(Store *s, u64 count) {
    size_t at = 0;
    for (const PackRecord *r; count && (r = pack_next(s->data, s->size, &at)); count--)
        s->slots[slot_of(s, r->off)] = (u32)(((const u8 *)r - s->data) / PACK_ALIGN) + 1;
}

static Store *index_new(const u8 *data, u64 size) {
    u64 slots = 64, count = count_records(data, size);
    while (slots < count * 2)
        slots *= 2;
    u64 bytes = sizeof(Store) + slots * sizeof(u32);
    Store *s = count ? sys_pages(bytes) : NULL;
    if (!s)
        return NULL;
    s->data = data;
    s->size = size;
    s->bytes = bytes;
    s->mask = slots - 1;
    fill(s, count);
    return s;
}

/* --------------------------------------------------------------------------------------------------------- the file */

static bool is_regular(const struct stat *st) {
    return (st->st_mode & MODE_TYPE) == MODE_REGULAR;
}

static i64 open_pack(Key pack) {
    char path[sizeof(the.opt.cache_dir) + PACK_NAME_SIZE], name[PACK_NAME_SIZE];
    pack_name(pack, name);
    format_text(path, sizeof(path), "%s/%s", the.opt.cache_dir, name);
    return sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
}

/* A file that another user could have written is not used. Packs never get shorter, so the mapping stays valid. */
static const u8 *map_pack(int fd, u64 *size) {
    struct stat st;
    if (sys_fstat(fd, &st) < 0 || !is_regular(&st) || !pack_is_private(st.st_uid, st.st_mode, (u32)sys_geteuid()))
        return NULL;
    *size = (u64)st.st_size;
    i64 data = own_map(*size, PROT_READ, MAP_PRIVATE, fd, 0);
    return sys_failed(data) ? NULL : (const u8 *)data;
}

static Store *open_contained(Key pack) {
    u64 size = 0;
    const u8 *data = contained_pack(pack, &size);
    Store *s = data ? index_new(data, size) : NULL;
    if (s)
        s->contained = true;
    return s;
}

static Store *open_store(Key pack) {
    Store *inside = open_contained(pack);
    if (inside)
        return inside;
    bool named = (pack.word[0] || pack.word[1]) && the.opt.cache_dir[0];
    i64 fd = named ? open_pack(pack) : -1;
    u64 size = 0;
    const u8 *data = fd < 0 ? NULL : map_pack((int)fd, &size);
    Store *s = data ? index_new(data, size) : NULL;
    if (data && !s)
        own_unmap((u64)data, size);
    if (fd >= 0)
        sys_close((int)fd);
    return s ? s : (Store *)&nothing;
}

static void close_store(Store *s) {
    if (s == &nothing)
        return;
    if (!s->contained)
        own_unmap((u64)s->data, s->size);
    sys_pages_free(s, s->bytes);
}

/* If several threads open the store at the same time, one of theirs is kept. */
static const Store *store_of(Module *m) {
    Store *s = __atomic_load_n(&m->store, __ATOMIC_ACQUIRE), *none = NULL;
    if (s)
        return s;
    s = open_store(m->pack);
    if (__atomic_compare_exchange_n(&m->store, &none, s, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return s;
    close_store(s);
    return none;
}

/* --------------------------------------------------------------------------------------------------------- checking */

/* Most guest memory can be read directly, which is much faster than through the kernel. */
static bool is_readable(u64 start, u64 end) {
    for (u64 page = page_down(start); page < end; page += PAGE) {
        int prot = space_prot(page);
        if (prot == PROT_UNMAPPED || !(prot & PROT_READ))
            return false;
    }
    return true;
}

static size_t read_guest(void *user, u64 addr, void *buf, size_t size) {
    (void)user;
    bool writable;
    if (!is_readable(addr, addr + size))
        return space_read(addr, buf, size, &writable);
    memcpy(buf, (const void *)addr, size);
    return size;
}

/* True if the guest's bytes are those that the record was made from. Code in which a tool has named a place is left to quick code (PLACE_IN_QUICK). */
static bool guest_fits(const Module *m, const PackRecord *r) {
    u64 hash = PACK_HASH_START, size = m->end - m->base;
    for (u32 i = 0; i < r->range_count; i++) {
        PackRange range = pack_ranges(r)[i];
        if (range.start > range.end || range.end > size || tool_names_in(m->base + range.start, m->base + range.end))
            return false;
        if (!pack_hash_guest(&hash, m->base + range.start, m->base + range.end, read_guest, NULL))
            return false;
    }
    return hash == r->guest_hash;
}

static LatheRange span_of(const Module *m, const PackRecord *r) {
    LatheRange span = {m->base + r->off, m->base + r->off};
    for (u32 i = 0; i < r->range_count; i++) {
        PackRange range = pack_ranges(r)[i];
        span.start = m->base + range.start < span.start ? m->base + range.start : span.start;
        span.end = m->base + range.end > span.end ? m->base + range.end : span.end;
    }
    return span;
}

const void *store_find(Module *m, u64 pc, Stored *facts) {
    const Store *s = store_of(m);
    u32 slot = s == &nothing ? 0 : s->slots[slot_of(s, pc - m->base)];
    if (!slot)
        return NULL;
    const PackRecord *r = record_at(s, slot);
    if (!pack_is_intact(m->pack, r) || (r->base && r->base != m->base) || !guest_fits(m, r))
        return NULL;
    *facts = (Stored){r->object_size, r->insns, span_of(m, r)};
    return pack_object(r);
}

static void change(Module *m, u64 difference) {
    Store *s = m->store;
    if (m->pack.word[0] || m->pack.word[1])
        m->pack.word[1] ^= difference;
    m->store = NULL;
    if (s)
        close_store(s);
}

void store_change(u64 difference) {
    for (u32 i = 0; i < the.memory.module_count; i++)
        change(&the.memory.modules[i], difference);
}
