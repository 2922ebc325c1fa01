/* sites.c: see sites.h. Handlers read while threads add: a list that is full is copied, and the old one stays. */
#include "run/client/code/optimised/sites.h"

#include "run/client/core/sys.h"
#include "run/client/memory/own.h"

enum { FIRST = 256 };

typedef struct Row {
    i32 access, exit; /* each from its own place */
} Row;

typedef struct Object {
    u64 start, end;
    const Row *rows;
    u64 count;
} Object;

typedef struct List {
    u64 count, capacity;
    Object objects[]; /* by rising addresses */
} List;

static List *list;

static List *larger(const List *old) {
    u64 capacity = old ? old->capacity * 2 : FIRST, size = old ? sizeof(List) + old->count * sizeof(Object) : 0;
    List *new = sys_pages(sizeof(List) + capacity * sizeof(Object));
    if (new &&size)
        memcpy(new, old, size);
    if (new)
        new->capacity = capacity;
    return new;
}

void sites_add(u64 start, u64 end, u64 rows, u64 bytes) {
    if (!list || list->count == list->capacity) {
        List *new = larger(list);
        if (!new)
            return;
        __atomic_store_n(&list, new, __ATOMIC_RELEASE);
    }
    list->objects[list->count] = (Object){start, end, (const Row *)rows, bytes / sizeof(Row)};
    __atomic_store_n(&list->count, list->count + 1, __ATOMIC_RELEASE);
}

static const Object *object_at(const List *l, u64 host) {
    u64 low = 0, high = l ? __atomic_load_n(&l->count, __ATOMIC_ACQUIRE) : 0;
    while (low < high) {
        u64 middle = (low + high) / 2;
        if (l->objects[middle].end <= host)
            low = middle + 1;
        else
            high = middle;
    }
    return l && low < l->count && l->objects[low].start <= host ? &l->objects[low] : NULL;
}

u64 sites_find(u64 host) {
    const Object *o = object_at(__atomic_load_n(&list, __ATOMIC_ACQUIRE), host);
    for (u64 i = 0; o && i < o->count; i++) {
        const Row *r = &o->rows[i];
        if ((u64)&r->access + (u64)(i64)r->access == host)
            return (u64)&r->exit + (u64)(i64)r->exit;
    }
    return 0;
}
