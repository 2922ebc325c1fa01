/* depends.c: see depends.h. */
#include "binopt/depends.h"

#include "binopt/maps.h"

void depends_add(Depends *d, u64 addr, const void *bytes, size_t size) {
    VEC_PUSH(&d->list, ((Depend){addr, (u32)size, (u32)d->bytes.len}));
    VEC_RESERVE(&d->bytes, size);
    memcpy(d->bytes.at + d->bytes.len, bytes, size);
    d->bytes.len += size;
}

void depends_free(Depends *d) {
    VEC_FREE(&d->list);
    VEC_FREE(&d->bytes);
}

bool depends_hold(const Depends *d) {
    u8 now[256];
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
