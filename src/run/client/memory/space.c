/* space.c: where guest mappings are placed, and what is mapped where. docs/address-space.md has a picture.
 *
 * One block is reserved at the start: the tables of this file, a window for modules, the code arena. Modules are placed in the window so
 * that code in the arena reaches them with 32-bit displacements; every other mapping is where the kernel puts it. Guest code is never run
 * where it lies, so the host never maps it with PROT_EXEC: the table `guest` records the protection that the guest asked for, and the host
 * maps executable pages readable instead.
 *
 * Memory that is not in the table `guest` does not belong to the guest, even if the host has something mapped there: it is the client's
 * memory, or a reservation.
 *
 * One lock is held over a change of the table and the system call behind it. It is not held during calls of watch.h, whose functions
 * ask for memory and modules themselves.
 */
#include "run/client/memory/space.h"

#include <elf.h>

#include "run/client/memory/key.h"
#include "run/client/memory/limits.h"
#include "run/client/memory/own.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/ranges.h"
#include "run/client/memory/watch.h"

#define BRK_SIZE ((u64)64 << 30)
/* The heap behind a program with fixed addresses, which may use the low addresses behind that itself. */
#define BRK_SIZE_NEAR ((u64)128 << 20)
#define BRK_SIZE_LEAST ((u64)16 << 20)
#define NO_ACCESS_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

enum {
    GUEST_RANGES = 1 << 17, /* twice the kernel's usual limit of mappings */
    SPARE_RANGES = 1 << 10,
    OWN_RANGES = 1 << 7,
    TABLES_SIZE = 8 << 20,
    BLOCK_ALIGN = 2 << 20,
    MODULE_SIZE_MAX = 512 << 20, /* larger files would take up half of the window */
    RESERVATION_MAX = 64 << 20,
    HOST_STACK_MAX = 8 << 20,
};

/* What has to be known of a mapped file to tell modules apart. */
typedef struct File {
    u64 dev, ino;
    bool regular, elf, position_independent; /* elf: a program or library, mapped from its start */
} File;

typedef struct Space {
    u32 lock;
    Ranges guest; /* value: PROT_* as the guest asked for, and SPACE_SHARED */
    Ranges own;   /* the client's memory; the values are 0 */
    struct {
        u64 dev, ino;
    } file[MODULES_MAX]; /* belongs to the.memory.modules at the same index */
    Range guest_ranges[GUEST_RANGES];
    Range own_ranges[OWN_RANGES];
} Space;

_Static_assert(sizeof(Space) <= TABLES_SIZE, "the tables lie in front of the window");

/* The tables end where the window begins, so their address needs no variable. */
static Space *space(void) {
    CHECK(the.memory.window, "space_init comes before everything else");
    return (Space *)(the.memory.window - TABLES_SIZE);
}

/* The last entries of the table are kept for changes that must not fail. */
static bool is_full(void) {
    return space()->guest.count > GUEST_RANGES - SPARE_RANGES;
}

static u32 host_prot(u32 prot) {
    return prot & PROT_EXEC ? (prot & ~(u32)PROT_EXEC) | PROT_READ : prot;
}

/* The protection in a value of the table. */
static u32 prot_of(u32 value) {
    return value & ~(u32)SPACE_SHARED;
}

/* Takes access away from addresses but keeps them reserved. */
static i64 vacate(u64 start, u64 end) {
    return sys_mmap(start, end - start, PROT_NONE, NO_ACCESS_FLAGS | MAP_FIXED, -1, 0);
}

/* Unmaps [start, end), which the guest no longer uses. The part in the window stays reserved. */
static i64 release(u64 start, u64 end) {
    u64 from = start > the.memory.window ? start : the.memory.window, to = end < the.code_base ? end : the.code_base;
    if (from >= to)
        return sys_munmap(start, end - start);
    i64 result = vacate(from, to);
    if (!sys_failed(result))
        result = start < from ? sys_munmap(start, from - start) : 0;
    if (!sys_failed(result))
        result = to < end ? sys_munmap(to, end - to) : 0;
    return result;
}

/* The kernel has unmapped [start, end): reserves the part in the window again. */
static void reserve_again(u64 start, u64 end) {
    u64 from = start > the.memory.window ? start : the.memory.window, to = end < the.code_base ? end : the.code_base;
    if (from < to)
        vacate(from, to);
}

/* The first gap of the window that leaves a free page on both sides, or 0 if there is none. */
static u64 find_gap(u64 size, u64 align) {
    const Ranges *t = &space()->guest;
    u64 at = (the.memory.window + PAGE + align - 1) & -align;
    for (u32 i = ranges_find(t, the.memory.window); i < t->count && t->at[i].start < the.code_base; i++) {
        if (at + size + PAGE <= t->at[i].start)
            return at;
        at = (t->at[i].end + PAGE + align - 1) & -align;
    }
    return at + size + PAGE <= the.code_base ? at : 0;
}

/* Of the window, and nobody's. */
static bool is_free(u64 start, u64 size) {
    return start >= the.memory.window && start < the.code_base && size <= the.code_base - start &&
           !ranges_touch(&space()->guest, start, start + size);
}

/* ---------------------------------------------------------------------------------------------------------- modules */

static File look_at(int fd, u64 off) {
    File f = {0};
    struct stat st;
    if (sys_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return f;
    f.dev = st.st_dev, f.ino = st.st_ino, f.regular = true;
    Elf64_Ehdr head;
    if (off || sys_pread(fd, &head, sizeof(head), 0) != sizeof(head) || memcmp(head.e_ident, ELFMAG, SELFMAG))
        return f;
    f.elf = head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_machine == guest_facts.machine &&
            (head.e_type == ET_DYN || head.e_type == ET_EXEC);
    f.position_independent = head.e_type == ET_DYN;
    return f;
}

/* Returns the innermost module, because a file may be mapped into a hole of another file's image. */
static Module *module_at(u64 addr) {
    Module *best = NULL;
    for (u32 i = 0; i < the.memory.module_count; i++) {
        Module *m = &the.memory.modules[i];
        if (addr >= m->base && addr < m->end && (!best || m->base > best->base))
            best = m;
    }
    return best;
}

static void name_module(Module *m, int fd) {
    char link[32], path[4096];
    format_text(link, sizeof(link), "/proc/self/fd/%d", fd);
    i64 len = sys_readlink(link, path, sizeof(path) - 1);
    path[len > 0 ? len : 0] = 0;
    const char *slash = strrchr(path, '/');
    format_text(m->name, sizeof(m->name), "%s", slash ? slash + 1 : path);
}

/* Uses the entry of a module that is gone if there is one; entries never move. Returns NULL if all are in use. */
static Module *new_module(u64 base, u64 end, const File *f) {
    u32 i = 0;
    while (i < the.memory.module_count && the.memory.modules[i].end)
        i++;
    if (i == MODULES_MAX)
        return NULL;
    bool near = base >= the.memory.window && end <= the.code_base;
    the.memory.modules[i] = (Module){
        .base = base,
        .end = end,
        .position_independent = f->position_independent && near,
        .unkept = f->position_independent && !near,
    };
    space()->file[i].dev = f->dev;
    space()->file[i].ino = f->ino;
    if (i == the.memory.module_count)
        the.memory.module_count++;
    return &the.memory.modules[i];
}

static void add_module(u64 base, u64 end, int fd, const File *f) {
    Module *m = new_module(base, end, f);
    if (m)
        name_module(m, fd);
}

static bool is_file_of(const Module *m, const File *f) {
    u64 i = (u64)(m - the.memory.modules);
    return space()->file[i].dev == f->dev && space()->file[i].ino == f->ino;
}

/* [start, end) is unmapped now (f is NULL), or holds the file f or anonymous memory. Forgets the modules in it.
 * Anonymous pages and other parts of the same file inside an image belong to the image. A module that loses its first
 * pages keeps its base, because addresses in the rest of it are relative to the base. */
static void forget_modules(u64 start, u64 end, const File *f) {
    for (u32 i = 0; i < the.memory.module_count; i++) {
        Module *m = &the.memory.modules[i];
        if (m->end <= start || m->base >= end || m->end > end || (f && f->regular && is_file_of(m, f)))
            continue;
        if (m->base >= start)
            m->base = m->end = 0;
        else if (!f || f->regular)
            m->end = start;
    }
}

/* A file was mapped at [start, end): it belongs to a module, or is a new one. Returns true if this is the module's
 * first code. */
static bool note_file(u64 start, u64 end, u32 prot, int fd, const File *f) {
    Module *m = module_at(start);
    if (!m || !is_file_of(m, f)) {
        if (!f->elf)
            return false;
        add_module(start, end, fd, f);
        m = module_at(start);
    }
    return m && prot & PROT_EXEC && !m->pack.word[0] && !m->pack.word[1];
}

/* Finds the name of the module's cache file. That means reading the file, so it is only done for files with code. */
static void key_module(u64 addr, int fd) {
    Key key = key_of_file(fd, &the.opt.code);
    lock(&space()->lock);
    Module *m = module_at(addr);
    if (m && !m->unkept)
        m->pack = key;
    unlock(&space()->lock);
    if (m)
        image_check(m);
}

Module *space_module(u64 addr) {
    lock(&space()->lock);
    Module *m = module_at(addr);
    unlock(&space()->lock);
    return m;
}

void space_add_module(u64 base, u64 end, int fd, bool position_independent) {
    File f = look_at(fd, 0);
    f.position_independent = position_independent;
    lock(&space()->lock);
    forget_modules(base, end, NULL);
    add_module(base, end, fd, &f);
    unlock(&space()->lock);
}

void space_add_code(u64 base, u64 end, Key pack, const char *name) {
    lock(&space()->lock);
    ranges_set(&space()->guest, base, end, PROT_READ | PROT_EXEC);
    sys_mprotect(base, end - base, host_prot(PROT_READ | PROT_EXEC));
    Module *m = new_module(base, end, &(File){.position_independent = true});
    if (m) {
        m->pack = pack;
        m->changing_data = true;
        format_text(m->name, sizeof(m->name), "%s", name);
    }
    unlock(&space()->lock);
}

/* ------------------------------------------------------------------------------------------------ the guest's calls */

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
static bool wants_window(const Mapping *m, const File *f) {
    if (m->addr || is_fixed(m) || m->size >= MODULE_SIZE_MAX || m->flags & (MAP_32BIT | MAP_HUGETLB))
        return false;
    return is_reservation(m) || (f->regular && (f->elf || m->prot & PROT_EXEC));
}

/* What a compiler at run time reserves for its code is better low, where it is in the map. Java's takes 240 MiB; the C library reserves 128 MiB and less
 * for other things. */
static bool may_be_for_code(const Mapping *m) {
    enum { MORE_THAN = 128 << 20, MOST = 256 << 20 };
    return !m->addr && m->prot == PROT_NONE && m->flags == NO_ACCESS_FLAGS && m->size > MORE_THAN && m->size <= MOST;
}

/* Does it want low addresses, but not certain ones? A compiler that wishes for some wants to be near the program that it is part of. */
static bool wants_low(const Mapping *m) {
    enum { MOST = 640 << 20 };
    return the.memory.window == LOW_WINDOW && !is_fixed(m) &&
           (may_be_for_code(m) || m->flags & MAP_32BIT || (m->addr && m->addr < LOW_CODE && m->size <= MOST));
}

/* In the window; 0: where the kernel puts it. To the kernel, all of the window is taken; so what the guest wants at free addresses of it, it gets here, and
 * where the window is among the lowest addresses, other low ones, too. */
static u64 find_place(const Mapping *m, const File *f) {
    if (m->addr && !(m->flags & MAP_FIXED) && is_free(page_down(m->addr), m->size))
        return page_down(m->addr);
    return wants_low(m) || wants_window(m, f) ? find_gap(m->size, PAGE) : 0;
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
    return limits_allow(&space()->guest, m->size, value_of(m), replaces ? m->addr : 0,
                        replaces ? m->addr + m->size : 0);
}

static i64 map_at(const Mapping *m, u64 addr, u32 flags) {
    return sys_mmap(addr, m->size, host_prot(m->prot), flags, m->fd, m->off);
}

static i64 place(const Mapping *m, const File *f) {
    if (is_full() || !is_allowed(m))
        return -ENOMEM;
    if (is_fixed(m) && ranges_touch(&space()->own, m->addr, m->addr + m->size))
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
        vacate(gap, gap + m->size);
    return result;
}

/* Called with the lock held. had_code: there may be translations of what was there before; first_code: the module has
 * no key yet. */
static i64 map(const Mapping *m, const File *f, bool *had_code, bool *first_code) {
    Space *s = space();
    *had_code = is_fixed(m) && ranges_any(&s->guest, m->addr, m->addr + m->size, PROT_EXEC);
    i64 result = place(m, f);
    if (sys_failed(result))
        return result;
    u64 start = (u64)result, end = start + m->size;
    ranges_set(&s->guest, start, end, value_of(m));
    forget_modules(start, end, f);
    *first_code = f->regular && note_file(start, end, m->prot, m->fd, f);
    return result;
}

/* There will be code there. What is in front of LOW_CODE is in the map. Where the map's word would be at no address of user space, a look at it faults,
 * and is not taken again. In between, the word may be some memory of the guest's. */
static void leave_map(u64 code) {
    enum { ADDRESS_BITS = 47, WORD_BITS = 2 };
    if (code >= LOW_CODE && code < (u64)1 << (ADDRESS_BITS - WORD_BITS))
        space_make_room(LOW_MAP, 1);
}

/* Called without the lock, after mappings have changed. */
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
    File f = flags & MAP_ANONYMOUS ? (File){0} : look_at(fd, off);
    bool had_code, first_code = false;
    lock(&space()->lock);
    i64 result = map(&m, &f, &had_code, &first_code);
    unlock(&space()->lock);
    if (sys_failed(result))
        return result;
    if (had_code || ((prot & PROT_EXEC) && !f.regular))
        code_forget((u64)result, (u64)result + m.size);
    if (first_code)
        key_module((u64)result, fd);
    note_views((u64)result, (u64)result + m.size, is_shared(&m) && !(flags & MAP_ANONYMOUS), prot);
    if (prot & PROT_EXEC)
        leave_map((u64)result);
    return result;
}

/* The client's memory lies in [start, end): unmaps only ranges that are known to be the guest's. */
static void unmap_around_own(u64 start, u64 end) {
    const Ranges *t = &space()->guest;
    for (u32 i = ranges_find(t, start); i < t->count && t->at[i].start < end; i++) {
        u64 from = t->at[i].start > start ? t->at[i].start : start, to = t->at[i].end < end ? t->at[i].end : end;
        release(from, to);
    }
}

static i64 unmap(u64 start, u64 end) {
    Space *s = space();
    i64 result = 0;
    const Range *r = ranges_at(&s->guest, start);
    if (is_full() && r && r->start < start && r->end > end)
        return -ENOMEM;
    if (ranges_touch(&s->own, start, end))
        unmap_around_own(start, end);
    else
        result = release(start, end);
    if (sys_failed(result))
        return result;
    ranges_clear(&s->guest, start, end);
    forget_modules(start, end, NULL);
    return 0;
}

i64 space_munmap(u64 addr, u64 size) {
    u64 end = addr + page_up(size);
    if (addr % PAGE || end <= addr)
        return -EINVAL;
    lock(&space()->lock);
    bool had_code = ranges_any(&space()->guest, addr, end, PROT_EXEC);
    i64 result = unmap(addr, end);
    unlock(&space()->lock);
    if (!result && had_code)
        code_forget(addr, end);
    if (!result)
        quick_remapped(addr, end, false);
    return result;
}

/* True if translations may become wrong: the guest's rights to code change, code is or stays writable, or data becomes
 * code. */
static bool changes_code(u64 start, u64 end, u32 prot) {
    const Ranges *t = &space()->guest;
    for (u32 i = ranges_find(t, start); i < t->count && t->at[i].start < end; i++) {
        if (((t->at[i].value | prot) & PROT_EXEC) && (prot_of(t->at[i].value) != prot || prot & PROT_WRITE))
            return true;
    }
    return false;
}

/* For PROT_GROWSDOWN. The guest's stack is an ordinary mapping whose start the kernel cannot find, so it is taken from
 * the table. */
static u64 growing_start(u64 addr) {
    const Range *r = ranges_at(&space()->guest, addr);
    return r ? r->start : addr;
}

/* The whole of [start, end) must be in the table. */
static void set_prot(u64 start, u64 end, u32 prot) {
    Ranges *t = &space()->guest;
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
    Space *s = space();
    bool changed = false;
    lock(&s->lock);
    if (prot & PROT_GROWSDOWN)
        addr = growing_start(addr), prot &= ~(u32)PROT_GROWSDOWN;
    bool possible = ranges_cover(&s->guest, addr, end) && !is_full() &&
                    (!(prot & PROT_WRITE) || limits_allow_data(&s->guest, addr, end));
    i64 result = possible ? sys_mprotect(addr, end - addr, host_prot(prot)) : -ENOMEM;
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
    Space *s = space();
    u64 end = addr + size, kept = size < new_size ? size : new_size, gone = to == addr ? addr + kept : addr;
    u32 value = ranges_at(&s->guest, size ? addr + kept - 1 : addr)->value;
    for (u64 at = addr, next; at < addr + kept && to != addr; at = next) {
        Range r = *ranges_at(&s->guest, at);
        next = r.end < addr + kept ? r.end : addr + kept;
        ranges_set(&s->guest, to + (at - addr), to + (next - addr), r.value);
    }
    ranges_set(&s->guest, to + kept, to + new_size, value);
    if (gone < end && (to == addr || !(flags & MREMAP_DONTUNMAP))) {
        reserve_again(gone, end);
        ranges_clear(&s->guest, gone, end);
        forget_modules(gone, end, NULL);
    }
}

/* The guest has [addr, addr + old), or the page at addr if old is 0. Only what the mapping grows by counts for the
 * limits. */
static bool may_remap(u64 addr, u64 old, u64 new, u32 flags) {
    const Ranges *t = &space()->guest;
    u64 kept = flags & MREMAP_DONTUNMAP ? 0 : old;
    return new <= kept || limits_allow(t, new - kept, ranges_at(t, addr)->value, 0, 0);
}

i64 space_mremap(u64 addr, u64 size, u64 new_size, u32 flags, u64 new_addr) {
    u64 old = page_up(size), new = page_up(new_size);
    if (addr + old < addr || old < size || new < new_size || !new)
        return -EINVAL;
    Space *s = space();
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
    if (is_full() || (fixed && ranges_touch(&s->own, new_addr, new_addr + new)))
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

/* -------------------------------------------------------------------------------------------------------------- brk */

/* Reserves `size` bytes for the heap, or less if there is no room. */
static bool reserve_brk(u64 at, u64 size, u32 flags) {
    for (; size >= BRK_SIZE_LEAST; size /= 2) {
        i64 start = sys_mmap(at, size, PROT_NONE, NO_ACCESS_FLAGS | flags, -1, 0);
        if (sys_failed(start))
            continue;
        the.memory.brk_start = the.memory.brk_now = (u64)start;
        the.memory.brk_end = (u64)start + size;
        return true;
    }
    return false;
}

bool space_start_brk(u64 image_end) {
    u64 most = the.memory.limited ? BRK_SIZE_NEAR : BRK_SIZE;
    return (image_end && reserve_brk(page_up(image_end), BRK_SIZE_NEAR, MAP_FIXED_NOREPLACE)) ||
           reserve_brk(0, most, 0);
}

/* Reserves addresses behind the end of the heap, if nothing is in the way. */
static bool extend_brk(u64 want) {
    u64 end = page_up(want);
    if (want <= the.memory.brk_end)
        return true;
    i64 at = end >= want ? sys_mmap(the.memory.brk_end, end - the.memory.brk_end, PROT_NONE,
                                    NO_ACCESS_FLAGS | MAP_FIXED_NOREPLACE, -1, 0)
                         : -ENOMEM;
    if (sys_failed(at))
        return false;
    if ((u64)at != the.memory.brk_end) { /* an old kernel took the address for a hint */
        sys_munmap((u64)at, end - the.memory.brk_end);
        return false;
    }
    the.memory.brk_end = end;
    return true;
}

static bool move_brk(u64 from, u64 to) {
    Space *s = space();
    if (to > from) {
        if (ranges_touch(&s->guest, from, to) || !limits_allow(&s->guest, to - from, PROT_WRITE, 0, 0) ||
            sys_mprotect(from, to - from, PROT_READ | PROT_WRITE))
            return false;
        ranges_set(&s->guest, from, to, PROT_READ | PROT_WRITE);
    } else if (to < from) {
        if (sys_failed(vacate(to, from)))
            return false;
        ranges_clear(&s->guest, to, from);
    }
    return true;
}

u64 space_brk(u64 want) {
    Space *s = space();
    lock(&s->lock);
    u64 old = the.memory.brk_now;
    bool had_code = want < old && ranges_any(&s->guest, page_up(want), page_up(old), PROT_EXEC);
    if (want >= the.memory.brk_start && extend_brk(want) && move_brk(page_up(old), page_up(want)))
        the.memory.brk_now = want;
    u64 now = the.memory.brk_now;
    unlock(&s->lock);
    if (now < old && had_code)
        code_forget(page_up(now), page_up(old));
    return now;
}

/* --------------------------------------------------------------------------------------- for the rest of the client */

/* Reserves memory anywhere the kernel likes, or else at the next free aligned place below that. More than `size` bytes
 * are never mapped, not even for a moment, because there may be a limit. */
static i64 reserve_far(u64 size, u64 align) {
    i64 at = sys_mmap(0, size, PROT_NONE, NO_ACCESS_FLAGS, -1, 0);
    if (sys_failed(at) || !((u64)at & (align - 1)))
        return at;
    sys_munmap((u64)at, size);
    i64 result = -ENOMEM;
    for (u64 place = (u64)at & -align; place; place -= align) {
        result = sys_mmap(place, size, PROT_NONE, NO_ACCESS_FLAGS | MAP_FIXED_NOREPLACE, -1, 0);
        if (result != -EEXIST)
            break;
    }
    return result;
}

i64 space_reserve(u64 want, u64 size, u64 align) {
    Space *s = space();
    lock(&s->lock);
    u64 gap = want ? (is_free(want, size) ? want : 0) : size < MODULE_SIZE_MAX ? find_gap(size, align) : 0;
    i64 at = gap    ? (i64)gap
             : want ? sys_mmap(want, size, PROT_NONE, NO_ACCESS_FLAGS | MAP_FIXED_NOREPLACE, -1, 0)
                    : reserve_far(size, align);
    if (!sys_failed(at))
        ranges_set(&s->guest, (u64)at, (u64)at + size, PROT_NONE);
    unlock(&s->lock);
    return at;
}

void space_own(u64 start, u64 size) {
    u64 end = start + page_up(size);
    lock(&space()->lock);
    ranges_set(&space()->own, start, end, 0);
    bool block = start >= the.memory.block_start && end <= the.memory.block_end;
    if (!block && (!the.memory.own_end || start < the.memory.own_start))
        the.memory.own_start = start;
    if (!block && end > the.memory.own_end)
        the.memory.own_end = end;
    unlock(&space()->lock);
}

bool space_is_free(u64 start, u64 size) {
    lock(&space()->lock);
    bool found = is_free(start, size);
    unlock(&space()->lock);
    return found;
}

void space_make_room(u64 start, u64 size) {
    if (!the.map || start >= LOW_MAP_END || start + size <= LOW_MAP || !quick_give_up_map())
        return;
    lock(&space()->lock);
    ranges_clear(&space()->own, LOW_MAP, LOW_MAP_END);
    sys_munmap(LOW_MAP, LOW_MAP_END - LOW_MAP);
    unlock(&space()->lock);
}

bool space_is_own(u64 start, u64 size) {
    lock(&space()->lock);
    bool own = ranges_touch(&space()->own, start, start + size);
    unlock(&space()->lock);
    return own;
}

bool space_has_hole(u64 start, u64 end) {
    Space *s = space();
    lock(&s->lock);
    bool hole = !ranges_cover(&s->guest, start, end) &&
                (ranges_touch(&s->own, start, end) || (start < the.code_base && end > the.memory.window) ||
                 (start < the.memory.brk_end && end > the.memory.brk_now) ||
                 (start < the.memory.stack_start && end > the.memory.stack_lowest));
    unlock(&s->lock);
    return hole;
}

int space_prot(u64 addr) {
    lock(&space()->lock);
    const Range *r = ranges_at(&space()->guest, addr);
    int prot = r ? (int)prot_of(r->value) : PROT_UNMAPPED;
    unlock(&space()->lock);
    return prot;
}

bool space_let_write(u64 page, bool host_too) {
    lock(&space()->lock);
    const Range *r = ranges_at(&space()->guest, page);
    bool done =
        r && (r->value & PROT_WRITE) && !sys_mprotect(page, PAGE, host_too ? host_prot(prot_of(r->value)) : PROT_READ);
    unlock(&space()->lock);
    return done;
}

bool space_next(u64 addr, u64 *start, u64 *end, u32 *prot) {
    const Ranges *t = &space()->guest;
    lock(&space()->lock);
    u32 i = ranges_find(t, addr);
    bool found = i < t->count;
    if (found)
        *start = t->at[i].start, *end = t->at[i].end, *prot = prot_of(t->at[i].value);
    unlock(&space()->lock);
    return found;
}

LimitsUse space_use(void) {
    lock(&space()->lock);
    LimitsUse use = limits_use(&space()->guest);
    unlock(&space()->lock);
    return use;
}

void space_note(u64 start, u64 size, int prot) {
    u64 end = start + page_up(size);
    Space *s = space();
    lock(&s->lock);
    bool had_code = ranges_any(&s->guest, start, end, PROT_EXEC);
    forget_modules(start, end, NULL);
    if (prot == PROT_UNMAPPED) {
        reserve_again(start, end);
        ranges_clear(&s->guest, start, end);
    } else
        ranges_set(&s->guest, start, end, (u32)prot);
    unlock(&s->lock);
    if (had_code)
        code_forget(start, end);
}

/* Takes the locks in the same order as own.c. */
void space_lock(void) {
    own_lock();
    lock(&space()->lock);
}

void space_unlock(void) {
    unlock(&space()->lock);
    own_unlock();
}

size_t space_read(u64 addr, void *buf, size_t size, bool *writable) {
    size_t n = peek(addr, buf, size);
    lock(&space()->lock);
    *writable = n && ranges_any(&space()->guest, addr, addr + n, PROT_WRITE);
    unlock(&space()->lock);
    return n;
}

/* ------------------------------------------------------------------------------------------------------------ start */

static u64 auxiliary(u64 type) {
    for (const u64 *a = the.auxv; a && a[0] != AT_NULL; a += 2) {
        if (a[0] == type)
            return a[1];
    }
    return 0;
}

/* Marks the stack that the kernel made for this process as the client's. It grows down; the arguments are above it. */
static void own_first_stack(void) {
    u64 here = page_down((u64)__builtin_frame_address(0)), top = page_up(auxiliary(AT_EXECFN)) + PAGE;
    the.memory.first_stack = here - HOST_STACK_MAX;
    ranges_set(&space()->own, the.memory.first_stack, top > here ? top : here + PAGE, 0);
}

static i64 reserve_block(u64 at, u64 size) {
    return sys_mmap(at, size, PROT_NONE, NO_ACCESS_FLAGS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* At low addresses, with the map. */
static bool reserve_low(void) {
    u64 start = LOW_TABLES - PAGE; /* a page in front that nobody may access */
    if (reserve_block(start, LOW_MAP_END - start) != (i64)start)
        return false;
    the.memory.window = LOW_WINDOW, the.code_base = LOW_CODE, the.code_end = LOW_MAP;
    the.memory.block_start = LOW_TABLES, the.memory.block_end = LOW_MAP_END;
    the.map = LOW_MAP;
    the.memory.window_as_wished = true;
    return true;
}

static bool reserve_high(u64 wish) {
    u64 size = TABLES_SIZE + limits_scaled(WINDOW_BYTES) + limits_scaled(ARENA_BYTES);
    i64 block = wish ? reserve_block(wish, size + BLOCK_ALIGN) : -1;
    the.memory.window_as_wished = wish && block == (i64)wish;
    if (!the.memory.window_as_wished)
        block = sys_mmap(0, size + BLOCK_ALIGN, PROT_NONE, NO_ACCESS_FLAGS, -1, 0);
    if (sys_failed(block))
        return false;
    /* There is a page without access in front of the tables. */
    u64 tables = ((u64)block + PAGE + BLOCK_ALIGN - 1) & -(u64)BLOCK_ALIGN;
    the.memory.block_start = tables, the.memory.block_end = tables + size;
    the.memory.window = tables + TABLES_SIZE;
    the.code_base = the.memory.window + limits_scaled(WINDOW_BYTES);
    the.code_end = the.memory.block_end;
    return true;
}

bool space_init(u64 wish, bool low) {
    extern const u8 __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));
    limits_init();
    if (!(low && !the.memory.limited && reserve_low()) && !reserve_high(wish))
        return false;
    u64 tables = the.memory.window - TABLES_SIZE;
    if (sys_mprotect(tables, TABLES_SIZE, PROT_READ | PROT_WRITE))
        return false;
    Space *s = space();
    s->guest = (Ranges){s->guest_ranges, 0, GUEST_RANGES};
    s->own = (Ranges){s->own_ranges, 0, OWN_RANGES};
    space_own(tables, TABLES_SIZE);
    space_own(the.code_base, the.memory.block_end - the.code_base);
    the.memory.image_start = page_down((u64)__ehdr_start);
    the.memory.image_end = page_up((u64)_end);
    ranges_set(&s->own, the.memory.image_start, the.memory.image_end, 0);
    own_first_stack();
    return own_init();
}
