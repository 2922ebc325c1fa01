/* views.c: memory that is mapped more than once. Just-in-time compilers that never have code writable where it is executed write it by another view
 * (mapping). So all views of a page with blocks are guarded (forget.c), and a write to one makes the blocks of all of them go away.
 *
 * The kernel's list of mappings says which show the same memory; it is read again after a shared mapping was added. Not noticed are writes by another
 * process, and by the kernel to the file itself. */
#include "run/client/code/arena/arena.h"
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/quick.h"
#include "run/client/memory/maps.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"
#include "run/client/memory/watch.h"

typedef struct View {
    u64 start, end, off;
    u64 file; /* which one, as a hash of its device and inode */
} View;

static struct {
    Array list;   /* of View: shared mappings of files */
    bool any;     /* there is a shared mapping, or was one */
    bool changed; /* the list has to be read again */
} views;

/* -------------------------------------------------------------------------------------------------------------- the list */

static u64 hash_of(const char *text) {
    u64 h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (u8)*text) * 0x100000001b3u;
    return h;
}

static void read_list(void) {
    static MapsReader reader; /* whoever is here holds the lock */
    MapsLine line;
    views.list.len = 0;
    views.changed = false;
    for (bool more = maps_open(&reader); more && maps_next(&reader, &line);)
        if (line.file && line.prot[3] == 's' && !space_is_own(line.start, line.end - line.start))
            *(View *)array_extend(&views.list, sizeof(View)) =
                (View){line.start, line.end, line.off, hash_of(line.origin)};
    maps_close(&reader);
}

static u64 view_count(void) {
    if (views.changed)
        read_list();
    return views.list.len / sizeof(View);
}

static const View *view_no(u64 i) {
    return (const View *)views.list.at + i;
}

static const View *view_at(u64 addr) {
    for (u64 i = 0; i < view_count(); i++)
        if (addr - view_no(i)->start < view_no(i)->end - view_no(i)->start)
            return view_no(i);
    return NULL;
}

static bool is_viewed(u64 start, u64 end) {
    for (u64 i = 0; i < view_count(); i++)
        if (view_no(i)->start < end && start < view_no(i)->end)
            return true;
    return false;
}

/* The address at which view `other` shows the memory that view `v` shows at addr; 0: it does not show it. */
static u64 address_in(const View *other, const View *v, u64 addr) {
    u64 off = v->off + (addr - v->start);
    bool shown = other->file == v->file && off >= other->off && off - other->off < other->end - other->start;
    return shown ? other->start + (off - other->off) : 0;
}

/* ------------------------------------------------------------------------------------------------------------- the pages */

static void each_other(u64 number, void (*what)(u64 number)) {
    u64 addr = number << PAGE_SHIFT;
    const View *v = views.any ? view_at(addr) : NULL;
    for (u64 i = 0; v && i < view_count(); i++) {
        u64 other = address_in(view_no(i), v, addr);
        if (other && other != addr)
            what(other >> PAGE_SHIFT);
    }
}

void views_guard(u64 number) {
    each_other(number, page_guard_anew);
}

void views_forget(u64 number) {
    each_other(number, page_forget);
}

/* The numbers of the pages in [start, end) that show memory of which another view has blocks. */
static Array others_of(u64 start, u64 end) {
    Array found = {0};
    for (u64 i = 0; i < quick_all.page_cap; i++) {
        const Page *p = &quick_all.pages[i];
        u64 addr = p->number << PAGE_SHIFT;
        const View *v = p->used && p->first ? view_at(addr) : NULL;
        for (u64 j = 0; v && j < view_count(); j++) {
            u64 other = address_in(view_no(j), v, addr);
            if (other && other != addr && other >= start && other < end)
                *(u64 *)array_extend(&found, sizeof(u64)) = other >> PAGE_SHIFT;
        }
    }
    return found;
}

static void guard_others_of(u64 start, u64 end) {
    Array found = others_of(start, end); /* guarding may move the table of pages */
    for (u64 i = 0; i < found.len / sizeof(u64); i++)
        page_guard_anew(((u64 *)found.at)[i]);
    if (found.at)
        sys_pages_free(found.at, found.cap);
}

void quick_remapped(u64 start, u64 end, bool shared) {
    if (!shared && !views.any)
        return;
    arena_lock();
    views.changed |= shared || is_viewed(start, end);
    views.any |= shared;
    arena_unlock();
}

void quick_made_writable(u64 start, u64 end) {
    if (!views.any)
        return;
    arena_lock();
    if (is_viewed(start, end))
        guard_others_of(start, end);
    arena_unlock();
}
