/* map.c: LatheMap of lathe/tool.h.
 *
 * Entries are in parts, which never move, in the order in which they were made. A table finds them by their keys: open addressing, never more than half full. Readers take no lock; whoever
 * adds an entry holds the map's. When the table has become too small, a larger one takes its place, and the former one is kept until the map is cleared, since readers may be in it. */
#include "tool/library/library.h"

enum { FIRST_SLOTS = 64, PART_ENTRIES_FIRST = 32, PART_ENTRIES_MOST = 4096 };

typedef struct Entry {
    u64 key;
    u64 there; /* 0: it was removed */
    u8 value[];
} Entry;

struct LatheMapPart {
    struct LatheMapPart *next;
    u64 count, room;
    u8 entries[] __attribute__((aligned(16)));
};

struct LatheMapTable {
    struct LatheMapTable *former;
    u64 slots, used; /* slots: a power of two */
    Entry *slot[];
};

typedef struct LatheMapPart Part;
typedef struct LatheMapTable Table;

static u64 entry_bytes(const LatheMap *m) {
    u64 value = m->bytes ? m->bytes : sizeof(u64);
    return sizeof(Entry) + ((value + 15) & -(u64)16);
}

static u64 first_slot(const Table *t, u64 key) {
    const u64 odd = 0x9e3779b97f4a7c15u;
    return (key * odd ^ (key * odd) >> 32) & (t->slots - 1);
}

/* The slot of a key, or the free one that it would have. */
static Entry **slot_of(Table *t, u64 key) {
    for (u64 i = first_slot(t, key);; i = (i + 1) & (t->slots - 1)) {
        const Entry *e = __atomic_load_n(&t->slot[i], __ATOMIC_ACQUIRE);
        if (!e || e->key == key)
            return &t->slot[i];
    }
}

static Entry *find(const LatheMap *m, u64 key) {
    Table *t = __atomic_load_n(&m->table, __ATOMIC_ACQUIRE);
    return t ? __atomic_load_n(slot_of(t, key), __ATOMIC_ACQUIRE) : NULL;
}

static void grow(LatheMap *m) {
    Table *old = m->table;
    u64 slots = old ? 2 * old->slots : FIRST_SLOTS;
    Table *t = lathe_alloc(sizeof(Table) + slots * sizeof(Entry *));
    t->slots = slots, t->former = old;
    for (u64 i = 0; old && i < old->slots; i++)
        if (old->slot[i]) {
            *slot_of(t, old->slot[i]->key) = old->slot[i];
            t->used++;
        }
    __atomic_store_n(&m->table, t, __ATOMIC_RELEASE);
}

static void add_part(LatheMap *m) {
    u64 room = m->last ? 2 * m->last->room : PART_ENTRIES_FIRST;
    room = room < PART_ENTRIES_MOST ? room : PART_ENTRIES_MOST;
    Part *p = lathe_alloc(sizeof(Part) + room * entry_bytes(m));
    p->room = room;
    if (m->last)
        __atomic_store_n(&m->last->next, p, __ATOMIC_RELEASE);
    else
        __atomic_store_n(&m->first, p, __ATOMIC_RELEASE);
    m->last = p;
}

static Entry *entry_no(const LatheMap *m, Part *p, u64 index) {
    return (Entry *)(p->entries + index * entry_bytes(m));
}

static Entry *add(LatheMap *m, u64 key) {
    if (!m->table || 2 * m->table->used >= m->table->slots)
        grow(m);
    if (!m->last || m->last->count == m->last->room)
        add_part(m);
    Entry *e = entry_no(m, m->last, m->last->count);
    e->key = key;
    e->there = 1;
    __atomic_store_n(&m->last->count, m->last->count + 1, __ATOMIC_RELEASE);
    __atomic_store_n(slot_of(m->table, key), e, __ATOMIC_RELEASE);
    m->table->used++;
    return e;
}

/* Under the map's lock: another thread may have made the entry just before. */
static Entry *make(LatheMap *m, u64 key) {
    Entry *e = find(m, key);
    if (e && e->there)
        return e;
    if (e) {
        memset(e->value, 0, entry_bytes(m) - sizeof(*e));
        __atomic_store_n(&e->there, 1, __ATOMIC_RELEASE);
    } else {
        e = add(m, key);
    }
    __atomic_store_n(&m->count, m->count + 1, __ATOMIC_RELAXED);
    return e;
}

static bool is_there(const Entry *e) {
    return e && __atomic_load_n(&e->there, __ATOMIC_ACQUIRE);
}

void *lathe_map_at(LatheMap *m, uint64_t key) {
    Entry *e = find(m, key);
    if (is_there(e))
        return e->value;
    lathe_lock(&m->lock);
    e = make(m, key);
    lathe_unlock(&m->lock);
    return e->value;
}

void *lathe_map_find(const LatheMap *m, uint64_t key) {
    Entry *e = find(m, key);
    return is_there(e) ? e->value : NULL;
}

bool lathe_map_remove(LatheMap *m, uint64_t key) {
    lathe_lock(&m->lock);
    Entry *e = find(m, key);
    bool was_there = is_there(e);
    if (was_there) {
        __atomic_store_n(&e->there, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&m->count, m->count - 1, __ATOMIC_RELAXED);
    }
    lathe_unlock(&m->lock);
    return was_there;
}

void lathe_map_clear(LatheMap *m) {
    for (Table *t = m->table, *former; t; t = former) {
        former = t->former;
        lathe_free(t);
    }
    for (Part *p = m->first, *next; p; p = next) {
        next = p->next;
        lathe_free(p);
    }
    m->table = NULL, m->first = m->last = NULL, m->count = 0;
}

bool lathe_map_next(const LatheMap *m, LatheWalk *w) {
    if (!w->part)
        w->part = __atomic_load_n(&m->first, __ATOMIC_ACQUIRE);
    while (w->part) {
        while (w->index < __atomic_load_n(&w->part->count, __ATOMIC_ACQUIRE)) {
            Entry *e = entry_no(m, w->part, w->index++);
            if (!is_there(e))
                continue;
            w->key = e->key, w->value = e->value;
            return true;
        }
        Part *next = __atomic_load_n(&w->part->next, __ATOMIC_ACQUIRE);
        if (!next)
            return false;
        w->part = next, w->index = 0;
    }
    return false;
}
