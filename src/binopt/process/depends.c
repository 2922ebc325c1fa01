/* depends.c: see depends.h. */
#include "binopt/process/depends.h"

#include "binopt/process/maps.h"
#include "binopt/process/segment.h"

static void add(Depends *d, u64 addr, const void *bytes, size_t size, bool read_only) {
    VEC_PUSH(&d->list, ((Depend){addr, (u32)size, (u32)d->bytes.len, read_only}));
    VEC_RESERVE(&d->bytes, size);
    memcpy(d->bytes.at + d->bytes.len, bytes, size);
    d->bytes.len += size;
}

void depends_add(Depends *d, u64 addr, const void *bytes, size_t size) {
    add(d, addr, bytes, size, false);
}

void depends_add_read_only(Depends *d, u64 addr, const void *bytes, size_t size) {
    add(d, addr, bytes, size, true);
}

void depends_copy(Depends *d, const Depends *from, const Depend *one) {
    add(d, one->addr, from->bytes.at + one->off, one->size, one->read_only);
}

void depends_free(Depends *d) {
    VEC_FREE(&d->list);
    VEC_FREE(&d->bytes);
}

/* Neighbours are often on the same page, which is checked only once. */
static bool are_read_only(const Depends *d) {
    enum { PAGE = 4096 };
    u64 asked = 1;
    for (size_t i = 0; i < d->list.len; i++) {
        const Depend *one = &d->list.at[i];
        u64 page = one->addr & ~(u64)(PAGE - 1);
        if (!one->read_only || (page == asked && one->addr + one->size <= page + PAGE))
            continue;
        if (!segment_is_read_only(one->addr, one->size))
            return false;
        asked = page;
    }
    return true;
}

bool depends_hold(const Depends *d) {
    u8 now[256];
    if (!are_read_only(d))
        return false;
    for (size_t i = 0; i < d->list.len; i++) {
        const Depend *one = &d->list.at[i];
        for (u32 done = 0; done < one->size;) {
            u32 size = one->size - done < sizeof(now) ? one->size - done : (u32)sizeof(now);
            if (maps_read(one->addr + done, now, size) < size || memcmp(now, d->bytes.at + one->off + done, size))
                return false;
            done += size;
        }
    }
    return true;
}
