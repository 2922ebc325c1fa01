/* mapping.c: the guest's mmap, munmap, mprotect and mremap.
 *
 * Each call decides where the mapping goes (find_place), makes the host's call and changes the table, both with the table's lock held, and then,
 * without the lock, tells the folder `code` what has become of the guest's code (watch.h). */
#include "run/client/memory/modules.h"
#include "run/client/memory/space_table.h"
#include "run/client/memory/watch.h"

enum { RESERVATION_MAX = 64 << 20 };

typedef struct Mapping {
    u64 addr, size; /* whole pages */
    u32 prot, flags;
    int fd;
    u64 off;
} Mapping;

static bool is_fixed(const Mapping *m) {
    return m->flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
}

/* True for a mapping that is probably a reservation: the dynamic linker first reserves memory for a library that needs
 * a large alignment, and maps the library into it. */
static bool is_reservation(const Mapping *m) {
    return m->prot == PROT_NONE && m->flags == (MAP_PRIVATE | MAP_ANONYMOUS) && m->size < RESERVATION_MAX;
}

/* Files with code are placed in the window if the guest does not care where they are, and so are reservations for such
 * files. */
static bool wants_window(const Mapping *m, const MappedFile *f) {
    if (m->addr || is_fixed(m) || m->size >= MODULE_SIZE_MAX || m->flags & (MAP_32BIT | MAP_HUGETLB))
        return false;
    return is_reservation(m) || (f->regular && (f->elf || m->prot & PROT_EXEC));
}

/* True for a reservation that a just-in-time compiler probably makes for its code. At low addresses that code is covered by the map from guest to
 * host addresses, so jumps to it are found faster. Java reserves 240 MiB; the C library reserves 128 MiB and less for other things. */
static bool may_be_for_code(const Mapping *m) {
    enum { MORE_THAN = 128 << 20, MOST = 256 << 20 };
    return !m->addr && m->prot == PROT_NONE && m->flags == NO_ACCESS_FLAGS && m->size > MORE_THAN && m->size <= MOST;
}

/* True if the mapping should be at low addresses, but need not be at a certain one. A low address that is only a hint comes from just-in-time
 * compilers, which want their code near the program that they are part of. */
static bool wants_low(const Mapping *m) {
    enum { MOST = 640 << 20 };
    return the.memory.window == LOW_WINDOW && !is_fixed(m) &&
           (may_be_for_code(m) || m->flags & MAP_32BIT || (m->addr && m->addr < LOW_CODE && m->size <= MOST));
}

/* The place in the window for a mapping; 0: the kernel chooses. The kernel takes all of the window for used, so a guest that asks for addresses that
 * are free in the window gets them here. If the window is at low addresses, it also holds what only has to be low. */
static u64 find_place(const Mapping *m, const MappedFile *f) {
    if (m->addr && !(m->flags & MAP_FIXED) && space_window_is_free(page_down(m->addr), m->size))
        return page_down(m->addr);
    return wants_low(m) || wants_window(m, f) ? space_find_gap(m->size, PAGE) : 0;
}

static bool is_shared(const Mapping *m) {
    u32 type = m->flags & MAP_TYPE;
    return type == MAP_SHARED || type == MAP_SHARED_VALIDATE;
}

/* The mapping's value in the table. */
static u32 value_of(const Mapping *m) {
    return m->prot | (is_shared(m) ? SPACE_SHARED : 0);
}

/* Memory that a fixed mapping replaces no longer counts for the limits. */
static bool is_allowed(const Mapping *m) {
    bool replaces = m->flags & MAP_FIXED;
    return limits_allow(&space_table()->guest, m->size, value_of(m), replaces ? m->addr : 0,
                        replaces ? m->addr + m->size : 0);
}

static i64 map_at(const Mapping *m, u64 addr, u32 flags) {
    return sys_mmap(addr, m->size, space_host_prot(m->prot), flags, m->fd, m->off);
}

static i64 place(const Mapping *m, const MappedFile *f) {
    if (space_is_full() || !is_allowed(m))
        return -ENOMEM;
    if (is_fixed(m) && ranges_touch(&space_table()->own, m->addr, m->addr + m->size))
        return m->flags & MAP_FIXED_NOREPLACE ? -EEXIST : -ENOMEM;
    if (m->addr && wants_low(m)) {
        i64 wished = map_at(m, m->addr, m->flags | MAP_FIXED_NOREPLACE);
        if (!sys_failed(wished))
            return wished;
    }
    u64 gap = find_place(m, f);
    if (!gap)
        return map_at(m, m->addr, m->flags);
    i64 result = map_at(m, gap, (m->flags & ~(u32)MAP_FIXED_NOREPLACE) | MAP_FIXED);
    if (sys_failed(result))
        space_vacate(gap, gap + m->size);
    return result;
}

/* Called with the lock held. had_code: there may be translations of what was there before; first_code: the module has
 * no key yet. */
static i64 map(const Mapping *m, const MappedFile *f, bool *had_code, bool *first_code) {
    Space *s = space_table();
    *had_code = is_fixed(m) && ranges_any(&s->guest, m->addr, m->addr + m->size, PROT_EXEC);
    i64 result = place(m, f);
    if (sys_failed(result))
        return result;
    u64 start = (u64)result, end = start + m->size;
    ranges_set(&s->guest, start, end, value_of(m));
    modules_forget(start, end, f);
    *first_code = f->regular && module_note_file(start, end, m->prot, m->fd, f);
    return result;
}

/* The guest will have code at this address. Gives the map from guest to host addresses up if a look into it for this address could go wrong: below
 * LOW_CODE the map has a word for the address; from 1 << 45 on the word's place is beyond all user addresses, so the look faults, and translated code
 * looks elsewhere from then on; in between, the word's place may be some memory of the guest's. */
static void leave_map(u64 code) {
    enum { ADDRESS_BITS = 47, WORD_BITS = 2 };
    if (code >= LOW_CODE && code < (u64)1 << (ADDRESS_BITS - WORD_BITS))
        space_make_room(LOW_MAP, 1);
}

/* Tells views.c that [start, end) was mapped. Called without the lock. */
static void note_views(u64 start, u64 end, bool shared, u32 prot) {
    quick_remapped(start, end, shared);
    if (prot & PROT_WRITE)
        quick_made_writable(start, end);
}

i64 space_mmap(u64 addr, u64 size, u32 prot, u32 flags, int fd, u64 off) {
    if (!size)
        return -EINVAL;
    Mapping m = {addr, page_up(size), prot, flags, fd, off};
    if (m.size < size || (is_fixed(&m) && addr + m.size < addr))
        return -ENOMEM;
    if (is_fixed(&m))
        space_make_room(addr, m.size);
    MappedFile f = flags & MAP_ANONYMOUS ? (MappedFile){0} : file_look_at(fd, off);
    bool had_code, first_code = false;
    lock(&space_table()->lock);
    i64 result = map(&m, &f, &had_code, &first_code);
    unlock(&space_table()->lock);
    if (sys_failed(result))
        return result;
    if (had_code || ((prot & PROT_EXEC) && !f.regular))
        code_forget((u64)result, (u64)result + m.size);
    if (first_code)
        module_find_key((u64)result, fd);
    note_views((u64)result, (u64)result + m.size, is_shared(&m) && !(flags & MAP_ANONYMOUS), prot);
    if (prot & PROT_EXEC)
        leave_map((u64)result);
    return result;
}

/* The client's memory lies in [start, end): unmaps only ranges that are known to be the guest's. */
static void unmap_around_own(u64 start, u64 end) {
    const Ranges *t = &space_table()->guest;
    for (u32 i = ranges_find(t, start); i < t->count && t->at[i].start < end; i++) {
        u64 from = t->at[i].start > start ? t->at[i].start : start, to = t->at[i].end < end ? t->at[i].end : end;
        space_release(from, to);
    }
}

static i64 unmap(u64 start, u64 end) {
    Space *s = space_table();
    i64 result = 0;
    const Range *r = ranges_at(&s->guest, start);
    if (space_is_full() && r && r->start < start && r->end > end)
        return -ENOMEM;
    if (ranges_touch(&s->own, start, end))
        unmap_around_own(start, end);
    else
        result = space_release(start, end);
    if (sys_failed(result))
        return result;
    ranges_clear(&s->guest, start, end);
    modules_forget(start, end, NULL);
    return 0;
}

i64 space_munmap(u64 addr, u64 size) {
    u64 end = addr + page_up(size);
    if (addr % PAGE || end <= addr)
        return -EINVAL;
    lock(&space_table()->lock);
    bool had_code = ranges_any(&space_table()->guest, addr, end, PROT_EXEC);
    i64 result = unmap(addr, end);
    unlock(&space_table()->lock);
    if (!result && had_code)
        code_forget(addr, end);
    if (!result)
        quick_remapped(addr, end, false);
    return result;
}

/* True if translations may become wrong: the guest's rights to code change, code is or stays writable, or data becomes
 * code. */
static bool changes_code(u64 start, u64 end, u32 prot) {
    const Ranges *t = &space_table()->guest;
    for (u32 i = ranges_find(t, start); i < t->count && t->at[i].start < end; i++) {
        if (((t->at[i].value | prot) & PROT_EXEC) && (space_prot_of(t->at[i].value) != prot || prot & PROT_WRITE))
            return true;
    }
    return false;
}

/* For PROT_GROWSDOWN. The guest's stack is an ordinary mapping whose start the kernel cannot find, so it is taken from
 * the table. */
static u64 growing_start(u64 addr) {
    const Range *r = ranges_at(&space_table()->guest, addr);
    return r ? r->start : addr;
}

/* The whole of [start, end) must be in the table. */
static void set_prot(u64 start, u64 end, u32 prot) {
    Ranges *t = &space_table()->guest;
    for (u64 at = start, next; at < end; at = next) {
        const Range *r = ranges_at(t, at);
        next = r->end < end ? r->end : end;
        ranges_set(t, at, next, prot | (r->value & SPACE_SHARED));
    }
}

i64 space_mprotect(u64 addr, u64 size, u32 prot) {
    u64 end = addr + page_up(size);
    if (addr % PAGE)
        return -EINVAL;
    if (end <= addr)
        return end == addr ? 0 : -ENOMEM;
    if (prot & PROT_EXEC)
        leave_map(addr);
    Space *s = space_table();
    bool changed = false;
    lock(&s->lock);
    if (prot & PROT_GROWSDOWN)
        addr = growing_start(addr), prot &= ~(u32)PROT_GROWSDOWN;
    bool possible = ranges_cover(&s->guest, addr, end) && !space_is_full() &&
                    (!(prot & PROT_WRITE) || limits_allow_data(&s->guest, addr, end));
    i64 result = possible ? sys_mprotect(addr, end - addr, space_host_prot(prot)) : -ENOMEM;
    if (!result) {
        changed = changes_code(addr, end, prot);
        set_prot(addr, end, prot);
    }
    unlock(&s->lock);
    if (changed)
        code_forget(addr, end);
    if (!result && prot & PROT_WRITE)
        quick_made_writable(addr, end);
    return result;
}

/* The kernel has moved or resized [addr, addr + size) to [to, to + new_size); records it. Additional memory gets the
 * value of the old end. size 0: a second view of shared memory was made. Called with the lock held. */
static void note_remap(u64 addr, u64 size, u64 to, u64 new_size, u32 flags) {
    Space *s = space_table();
    u64 end = addr + size, kept = size < new_size ? size : new_size, gone = to == addr ? addr + kept : addr;
    u32 value = ranges_at(&s->guest, size ? addr + kept - 1 : addr)->value;
    for (u64 at = addr, next; at < addr + kept && to != addr; at = next) {
        Range r = *ranges_at(&s->guest, at);
        next = r.end < addr + kept ? r.end : addr + kept;
        ranges_set(&s->guest, to + (at - addr), to + (next - addr), r.value);
    }
    ranges_set(&s->guest, to + kept, to + new_size, value);
    if (gone < end && (to == addr || !(flags & MREMAP_DONTUNMAP))) {
        space_reserve_again(gone, end);
        ranges_clear(&s->guest, gone, end);
        modules_forget(gone, end, NULL);
    }
}

/* The guest has [addr, addr + old), or the page at addr if old is 0. Only what the mapping grows by counts for the
 * limits. */
static bool may_remap(u64 addr, u64 old, u64 new, u32 flags) {
    const Ranges *t = &space_table()->guest;
    u64 kept = flags & MREMAP_DONTUNMAP ? 0 : old;
    return new <= kept || limits_allow(t, new - kept, ranges_at(t, addr)->value, 0, 0);
}

i64 space_mremap(u64 addr, u64 size, u64 new_size, u32 flags, u64 new_addr) {
    u64 old = page_up(size), new = page_up(new_size);
    if (addr + old < addr || old < size || new < new_size || !new)
        return -EINVAL;
    Space *s = space_table();
    bool fixed = flags & MREMAP_FIXED;
    if (fixed && new_addr + new < new_addr)
        return -EINVAL;
    if (fixed)
        space_make_room(new_addr, new);
    quick_allow_writes_to(addr, addr + old); /* the host's protection of pages would move along with them */
    lock(&s->lock);
    bool had_code = ranges_any(&s->guest, addr, addr + old, PROT_EXEC);
    bool replaces_code = fixed && ranges_any(&s->guest, new_addr, new_addr + new, PROT_EXEC);
    i64 result = -EFAULT;
    if (space_is_full() || (fixed && ranges_touch(&s->own, new_addr, new_addr + new)))
        result = -ENOMEM;
    else if (ranges_cover(&s->guest, addr, addr + (old ? old : PAGE)))
        result = may_remap(addr, old, new, flags) ? sys_mremap(addr, size, new_size, flags, new_addr) : -ENOMEM;
    if (!sys_failed(result))
        note_remap(addr, old, (u64)result, new, flags);
    unlock(&s->lock);
    if (!sys_failed(result) && had_code) {
        code_forget(addr, addr + old);
        leave_map((u64)result);
    }
    if (!sys_failed(result) && replaces_code)
        code_forget(new_addr, new_addr + new);
    if (!sys_failed(result)) {
        quick_remapped(addr, addr + (old ? old : PAGE), false);
        quick_made_writable((u64)result, (u64)result + new);
    }
    return result;
}
