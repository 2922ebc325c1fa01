/* accesses.c: see accesses.h. Handlers of signals read the list while threads add to it. So a list that is full is copied to a larger one, and the
 * old one is never freed. */
#include "run/client/code/optimised/accesses.h"

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
    const i32 *tools; /* distances, each from its own place */
    u64 tool_count;
} Object;

typedef struct List {
    u64 count, capacity;
    Object objects[]; /* by rising addresses */
} List;

static List *list;

static List *larger(const List *old, u64 capacity) {
    u64 size = old ? sizeof(List) + old->count * sizeof(Object) : 0;
    List *new = sys_pages(sizeof(List) + capacity * sizeof(Object));
    if (new &&size)
        memcpy(new, old, size);
    if (new)
        new->capacity = capacity;
    return new;
}

/* Returns false if there is no memory. */
static bool make_room(u64 more) {
    u64 capacity = list ? list->capacity : FIRST, count = (list ? list->count : 0) + more;
    if (list && count <= capacity)
        return true;
    while (capacity < count)
        capacity *= 2;
    List *new = larger(list, capacity);
    if (new)
        __atomic_store_n(&list, new, __ATOMIC_RELEASE);
    return new;
}

static void add(const Object *objects, u64 count) {
    memcpy(&list->objects[list->count], objects, count * sizeof(Object));
    __atomic_store_n(&list->count, list->count + count, __ATOMIC_RELEASE);
}

void accesses_add(u64 start, u64 end, AccessesPart rows, AccessesPart tools) {
    if (make_room(1))
        add(&(Object){start, end, (const Row *)rows.at, rows.bytes / sizeof(Row), (const i32 *)tools.at,
                      tools.bytes / sizeof(i32)},
            1);
}

void accesses_forget_all(void) {
    if (list)
        list->count = 0;
}

ImagePart accesses_export(void) {
    return list ? (ImagePart){(u8 *)list->objects, list->count * sizeof(Object), 0} : (ImagePart){0};
}

void accesses_import(const ImagePart *part) {
    u64 count = part->size / sizeof(Object);
    if (count && make_room(count))
        add((const Object *)part->at, count);
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

u64 accesses_find_exit(u64 host) {
    const Object *o = object_at(__atomic_load_n(&list, __ATOMIC_ACQUIRE), host);
    for (u64 i = 0; o && i < o->count; i++) {
        const Row *r = &o->rows[i];
        if ((u64)&r->access + (u64)(i64)r->access == host)
            return (u64)&r->exit + (u64)(i64)r->exit;
    }
    return 0;
}

bool accesses_is_by_tool(u64 host) {
    const Object *o = object_at(__atomic_load_n(&list, __ATOMIC_ACQUIRE), host);
    for (u64 i = 0; o && i < o->tool_count; i++)
        if ((u64)&o->tools[i] + (u64)(i64)o->tools[i] == host)
            return true;
    return false;
}
